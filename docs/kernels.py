"""Kernels of pages: each is forked from a process that has imported what most pages import."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint
from multiprocessing import get_context
from typing import Any

from ipykernel.kernelapp import IPKernelApp
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

# Sphinx is the program, which `multiprocessing` would import again in every kernel.
IMPORTED = (
    "ipykernel.kernelapp",
    "matplotlib_inline.backend_inline",
    "plotnine",
    "pyinterp.learner",
    "sklearn.ensemble",
    "sphinx.cmd.build",
    "statsmodels.formula.api",
)


def be_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Serve the cells of one page, in a session of its own, until the page is done."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    IPKernelApp.launch_instance(arguments, parent_handle=os.getppid())


class Kernel:
    """The process of a kernel, with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, *task: Any) -> None:
        self.process = get_context("forkserver").Process(target=be_kernel, args=task)
        self.process.start()

    def poll(self) -> int | None:
        """Return how it ended, if it did."""
        return self.process.exitcode

    def wait(self) -> int | None:
        """Wait until it has ended, and return how."""
        self.process.join()
        return self.process.exitcode


class Forked(LocalProvisioner):
    """What starts kernels: it forks them."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Fork a kernel; signals go to its group, the processes that it started included."""
        self.process = Kernel(cmd[cmd.index("-f") :], options["cwd"], options["env"])
        self.pid = self.pgid = self.process.process.pid
        return self.connection_info


def install() -> None:
    """Let kernels be forked: imports would take three seconds in each."""
    get_context("forkserver").set_forkserver_preload([*IMPORTED])
    factory = KernelProvisionerFactory.instance(default_provisioner_name="forked")
    factory.provisioners["forked"] = EntryPoint("forked", f"{__name__}:Forked", factory.GROUP_NAME)
