"""Files of results that are damaged at random, and what `pi.load` does with them.

A program: ``python damaged_files.py NUMBER SEED [models]`` works in the current folder and prints
JSON; with the last word files have models, and these are damaged too.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import importlib
import io
import json
import pickle
import random
import resource
import sys
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import FileError, PyinterpError
from pyinterp.storage.codec import types_of

Members = dict[str, bytes]
MANIFEST = "manifest.json"
WHOLE = Path("whole")
FILE = Path("damaged.pyinterp")
LONGEST = 600  # characters of a message
# What stands in a tree instead of what was there.
JUNK: list[Any] = [
    None, True, -1, 0, 1e308, 2**70, "x", "", "a" * 10_000, "\x00\u202e", [], {}, [[]], [[[[[]]]]],
    {"array": "results/data/0/0"}, {"array": "../../x"}, {"array": -1}, {"array": None},
    {"array": "results/replicates/tally/values"}, {"class": "Estimand"}, {"class": "os.system"},
    {"class": ["Loss"]}, {"class": None}, {"class": "TestCase"}, {"tuple": []}, {"float": ["nan"]},
    {"float": ["inf"]}, {"float": "x"}, {"bytes": ["zz"]}, {"function": ["os.system"]},
    {"function": 3}, {"key": ["0"]}, {"key": []}, {"class": "AbsentModel", "learner_name": 3},
    {"RangeIndex": [0, 10**12, 1, None]}, {"RangeIndex": [0, 5, 0, None]},
    {"objects": [[10**6, 10**6], []]}, {"objects": [[-1], []]}, {"column": ["Int64", None]},
    {"column": ["object", {"array": "results/data/0/0"}]},
    {"column": ["datetime64[ns, ../../etc/passwd]", {"array": "results/data/0/0"}]},
    {"datetime": ["2024-13-01", 9]}, {"Index": [3, None]}, {"Categorical": [[9], [], True]},
    {"class": "Ranks", "probabilities": 1}, {"MultiIndex": [[], [], []]},
    {"DataFrame": [[], [], 3]},
]  # fmt: skip
ARRAYS = [
    np.zeros(3), np.zeros((2, 2)), np.array(["a"]), np.zeros(0), np.full((5, 3), np.nan),
    np.array(1), np.arange(3), np.zeros(3, complex), np.array(["NaT"], "M8[ns]"), np.array([b"x"]),
    np.full(40, np.inf), np.zeros((0, 5)), np.zeros((40, 3), "<f2"), np.ones((40, 3, 2)),
    np.zeros(40, bool), np.full(40, -(10**9)), np.array([2**63], np.uint64),
    np.zeros((40, 3), order="F"),
]  # fmt: skip


def whole_files() -> list[bytes]:
    """Return files of several kinds of results, each of 80 rows."""
    data = pi.datasets.load_diabetes().iloc[:80]
    learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    fit = learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)
    pfi = fit.pfi()
    every = [
        pfi, fit.importance(["mvim", "cvim"]), fit.pd("bmi"), fit.pd("bmi").flat_test(),
        pfi.t_test("bmi = bp"), pfi.ranks(), pi.compare(pfi, pfi),
        pfi.wald_test("bmi = bp"), fit.pd(["bmi", "sex"], together=False),
        fit.pfi(by="sex"), fit,
    ]  # fmt: skip
    WHOLE.mkdir()
    files = []
    for number, results in enumerate(every):
        results.save(WHOLE / f"{number}.pyinterp")
        files.append((WHOLE / f"{number}.pyinterp").read_bytes())
    return files


def whole_files_of_models() -> list[bytes]:
    """Return files with models of which every type is trusted, each of 80 rows."""
    data = pi.datasets.load_diabetes().iloc[:80]
    data["high"] = np.where(data["progression"] > 120, "yes", "no")
    line = pi.Learner.from_formula("progression ~ bs(bmi, df=4) + bp*sex", data, Ridge())
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    classes = pi.Learner.from_formula("high ~ bmi + bp + C(sex)", data, steps)
    array = pi.Learner(data["progression"], data[["bmi", "bp"]], LinearRegression())
    plan, options = pi.HalfSampling(2, pairs=5), {"seed": 1, "progress": False}
    every = [line.fit(plan, **options), classes.fit(plan, **options), array.fit_model(seed=1)]
    WHOLE.mkdir()
    files = []
    for number, results in enumerate(every):
        results.pfi("bmi")
        results.save(WHOLE / f"{number}.pyinterp", models=True)
        files.append((WHOLE / f"{number}.pyinterp").read_bytes())
    return files


def members_of(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(
    members: Members,
    *,
    sign: bool = True,
    method: int = zipfile.ZIP_STORED,
    others: list[tuple[str, bytes]] | None = None,
) -> bytes:
    """Return the zip of members; `sign` writes digests that agree with them."""
    members = dict(members)
    if sign:
        manifest = json.loads(members[MANIFEST])
        manifest["arrays"] = {
            name.removesuffix(".npy"): hashlib.sha256(data).hexdigest()
            for name, data in [*members.items(), *(others or [])]
            if name != MANIFEST
        }
        members[MANIFEST] = json.dumps(manifest).encode()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, data in [*members.items(), *(others or [])]:
                archive.writestr(name, data)
    return file.getvalue()


def with_tree(members: Members, tree: Any) -> bytes:
    """Return the zip of members with another tree of results."""
    manifest = json.loads(members[MANIFEST])
    return packed({**members, MANIFEST: json.dumps({**manifest, "results": tree}).encode()})


def places_of(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places in a tree, of lists the first 50."""
    yield place
    parts: Any = tree.items() if isinstance(tree, dict) else ()
    for name, part in enumerate(tree[:50]) if isinstance(tree, list) else parts:
        yield from places_of(part, (*place, name))


class Mutations:
    """Makes damaged files of whole ones, the same ones for a seed."""

    def __init__(self, files: list[bytes], seed: int, *, models: bool) -> None:
        self.rng, self.files = random.Random(seed), files  # noqa: S311 - to be repeated
        self.ways = [*WAYS, *list(WAYS_OF_MODELS) * 3] if models else list(WAYS)
        self.trees = [json.loads(members_of(data)[MANIFEST])["results"] for data in files]
        self.places = [list(places_of(tree)) for tree in self.trees]

    def next(self) -> tuple[str, int, bytes]:
        """Return what was done, to which file, and what it is now."""
        number = self.rng.randrange(len(self.files))
        name = self.rng.choice(self.ways)
        return name, number, {**WAYS, **WAYS_OF_MODELS}[name](self, number)

    def flip(self, number: int) -> bytes:
        data = bytearray(self.files[number])
        for _ in range(self.rng.choice([1, 1, 5, 100])):
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        return bytes(data)

    def cut(self, number: int) -> bytes:
        return self.files[number][: self.rng.randrange(len(self.files[number]))]

    def swap(self, number: int) -> bytes:
        members = members_of(self.files[number])
        arrays = [name for name in members if name != MANIFEST]
        if not arrays:
            return self.cut(number)
        one, other = self.rng.choices(arrays, k=2)
        members[one], members[other] = members[other], members[one]
        return packed(members, sign=self.rng.random() < 0.7)

    def tree(self, number: int) -> bytes:
        members, tree = members_of(self.files[number]), copy.deepcopy(self.trees[number])
        for _ in range(self.rng.choice([1, 1, 2])):
            place = self.rng.choice(self.places[number])
            part = self.rng.choice(JUNK)
            tree = self._with(tree, place, part)
        return with_tree(members, tree)

    def _with(self, tree: Any, place: tuple[Any, ...], part: Any) -> Any:
        inner = tree
        try:
            for step in place[:-1]:
                inner = inner[step]
            if not place:
                return part
            if self.rng.random() < 0.2 and isinstance(inner, dict):
                del inner[place[-1]]
            else:
                inner[place[-1]] = part
        except (KeyError, IndexError, TypeError):  # the first change took it away
            pass
        return tree

    def graft(self, number: int) -> bytes:
        """Put a part of a tree in the place of another."""
        members, tree = members_of(self.files[number]), copy.deepcopy(self.trees[number])
        part: Any = self.trees[number]
        for step in self.rng.choice(self.places[number]):
            part = part[step]
        tree = self._with(tree, self.rng.choice(self.places[number]), copy.deepcopy(part))
        return with_tree(members, tree)

    def array(self, number: int) -> bytes:
        return self._other_array(number, lambda _: _npy(self.rng.choice(ARRAYS)))

    def header(self, number: int) -> bytes:
        def bit(data: bytes) -> bytes:
            other = bytearray(data)
            other[self.rng.randrange(min(128, len(other)))] ^= 1 << self.rng.randrange(8)
            return bytes(other)

        return self._other_array(number, bit)

    def pickle(self, number: int) -> bytes:
        """Put an array of objects, whose pickle would write a file, in the place of one."""
        return self._other_array(number, lambda _: _npy(np.array([Trap()], dtype=object)))

    def vast(self, number: int) -> bytes:
        """Let the header of an array promise more than the file has."""
        head = self.rng.choice(["(10**12,)", "(1000000000000,)", "(-1,)", "(99999, 99999, 99)"])
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {head}, }}".ljust(117) + "\n"
        lead = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little")
        return self._other_array(number, lambda _: lead + text.encode())

    def _other_array(self, number: int, change: Callable[[bytes], bytes]) -> bytes:
        members = members_of(self.files[number])
        arrays = [name for name in members if name.endswith(".npy")]
        if not arrays:
            return self.cut(number)
        name = self.rng.choice(arrays)
        members[name] = change(members[name])
        return packed(members)

    def bomb(self, number: int) -> bytes:
        members = members_of(self.files[number])
        members[self.rng.choice([*members, "results/0.npy", "big.npy"])] = BOMB
        if MANIFEST in members and members[MANIFEST] is BOMB:
            return packed(members, sign=False, method=zipfile.ZIP_DEFLATED)
        return packed(members, method=zipfile.ZIP_DEFLATED)

    def deep(self, number: int) -> bytes:
        members, depth = members_of(self.files[number]), self.rng.choice([900, 5000, 200_000])
        tree = self.rng.choice(
            [b"[" * depth + b"]" * depth, b'{"objects":[[],' * depth + b"]}" * depth]
        )
        manifest = json.dumps({**json.loads(members[MANIFEST]), "results": 0.5}).encode()
        members[MANIFEST] = self.rng.choice([tree, manifest.replace(b"0.5", tree)])
        return packed(members, sign=False)

    def path(self, number: int) -> bytes:
        name = self.rng.choice(["../../x", "/x", "a/../../x", "C:\\x", "\\\\host\\x", "x\u202e"])
        members = members_of(self.files[number])
        return packed(members, sign=self.rng.random() < 0.5, others=[(name, b"x")])

    def schema(self, number: int) -> bytes:
        members = members_of(self.files[number])
        manifest = json.loads(members[MANIFEST])
        name = self.rng.choice(["schema", "format", "results"])
        manifest[name] = self.rng.choice([*JUNK, 1, 99] if name == "schema" else JUNK)
        members[MANIFEST] = json.dumps(manifest).encode()
        return packed(members, sign=False)

    def cut_json(self, number: int) -> bytes:
        members = members_of(self.files[number])
        members[MANIFEST] = members[MANIFEST][: self.rng.randrange(len(members[MANIFEST]))]
        return packed(members, sign=False)

    def twice(self, number: int) -> bytes:
        members = members_of(self.files[number])
        name = self.rng.choice(list(members))
        return packed(members, sign=False, others=[(name, self.rng.choice([b"{}", members[name]]))])

    def _other_model(self, number: int, change: Callable[[bytes], bytes]) -> bytes:
        """Change the bytes of a model, with a digest that agrees."""
        members = members_of(self.files[number])
        name = self.rng.choice([n for n, data in members.items() if SKOPS in data])
        members[name] = _npy(np.frombuffer(change(_array(members[name]).tobytes()), np.uint8))
        return packed(members)

    def model_flip(self, number: int) -> bytes:
        def flip(data: bytes) -> bytes:
            other = bytearray(data)
            for _ in range(self.rng.choice([1, 5, 100])):
                other[self.rng.randrange(len(other))] ^= 1 << self.rng.randrange(8)
            return bytes(other)

        return self._other_model(number, flip)

    def model_cut(self, number: int) -> bytes:
        return self._other_model(number, lambda data: data[: self.rng.randrange(len(data))])

    def model_tree(self, number: int) -> bytes:
        """Put other types, functions or values into what skops reads."""

        def change(data: bytes) -> bytes:
            members = members_of(data)
            tree = json.loads(members[SCHEMA])
            places = list(places_of(tree))
            names = [p for p in places if p and p[-1] in ("__class__", "__module__", "__loader__")]
            if self.rng.random() < 0.5:
                tree = self._with(tree, self.rng.choice(places), self.rng.choice(JUNK))
            else:
                inner = tree
                for step in self.rng.choice(names)[:-1]:
                    inner = inner[step]
                inner["__module__"], inner["__class__"], loader = self.rng.choice(STRANGERS)
                inner["__loader__"] = loader or inner["__loader__"]
            members[SCHEMA] = json.dumps(tree).encode()
            return _zip(members)

        return self._other_model(number, change)

    def model_term(self, number: int) -> bytes:
        """Let a term of the formula be code."""
        tree = copy.deepcopy(self.trees[number])
        terms = tree["record"]["on_file"]["design"]["terms"]
        terms[: len(terms) // 2] = [self.rng.choice(CODE)]
        return with_tree(members_of(self.files[number]), tree)

    def model_array(self, number: int) -> bytes:
        def change(data: bytes) -> bytes:
            members = members_of(data)
            name = self.rng.choice([n for n in members if n.endswith(".npy")])
            members[name] = _npy(self.rng.choice(ARRAYS))
            return _zip(members)

        return self._other_model(number, change)

    def model_pickle(self, number: int) -> bytes:
        """Hide a pickle that would write a file: as an array, as a member, as the model."""

        def change(data: bytes) -> bytes:
            members = members_of(data)
            arrays = [n for n in members if n.endswith(".npy")]
            name = self.rng.choice([*arrays, "model.pickle", ""])
            if not name:
                return pickle.dumps(Trap())
            trap = _npy(np.array([Trap()], dtype=object))
            members[name] = trap if name in arrays else pickle.dumps(Trap())
            return _zip(members)

        return self._other_model(number, change)

    def model_stranger(self, number: int) -> bytes:
        """Put an object in the place of the model whose class writes a file when it is made."""
        return self._other_model(number, lambda _: SAVER().dumps(self.rng.choice(TRAPS)))

    def model_bomb(self, number: int) -> bytes:
        def change(data: bytes) -> bytes:
            members = members_of(data)
            members[self.rng.choice([*members, "big.npy", "big.npz"])] = BOMB
            return _zip(members, zipfile.ZIP_DEFLATED)

        return self._other_model(number, change)

    def model_vast(self, number: int) -> bytes:
        def change(data: bytes) -> bytes:
            members = members_of(data)
            name = self.rng.choice([n for n in members if n.endswith(".npy")])
            head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
            text = head.ljust(117) + "\n"
            lead = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little")
            members[name] = lead + text.encode()
            return _zip(members)

        return self._other_model(number, change)


class Trap:
    """An object whose pickle writes a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (Path("trap"), "x")


class Setter:
    """An object that writes a file when it is given its state."""

    def __init__(self) -> None:
        self.x = 1

    def __setstate__(self, _: Any) -> None:
        Path("trap").write_text("x")


SAVER = functools.partial(importlib.import_module, "skops.io")  # an extra
TRAPS = [Setter(), {"inside": [Setter()]}, Path.write_text, (1, functools.partial(Path.touch, 3))]


def _array(data: bytes) -> Any:
    return np.load(io.BytesIO(data))


def _zip(members: Members, method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


CODE = [
    "__import__('os').system('touch trap')", "bs(bmi, df=__import__('os').getpid())", "open('x')",
    "np.load('whole/0.pyinterp')", "I(9**9**9**9)", "bs(bmi, df=1000000)", "bmi.__class__", "",
    "bmi + bp", "I(bmi ** 1000)", "C(sex, levels=list(range(10**9)))", "bmi)", "no_column", "~ bmi",
    "(lambda: 1)()", "`bmi`; import os", "bmi:" * 5000 + "bmi", "(" * 5000,
    "I(" * 300 + "bmi" + ")" * 300,
]  # fmt: skip
SKOPS, SCHEMA = b"schema.json", "schema.json"
# Module, class and loader of what a model's file must not bring to life.
STRANGERS = [
    ("os", "system", "FunctionNode"), ("builtins", "eval", "FunctionNode"),
    ("builtins", "exec", "TypeNode"), ("subprocess", "Popen", "ConstructorFromReduceNode"),
    ("pathlib", "Path", "ObjectNode"), ("__main__", "Setter", "ObjectNode"),
    ("operator", "methodcaller", "OperatorFuncNode"), ("functools", "partial", "PartialNode"),
    ("antigravity", "x", "TypeNode"), ("sklearn.tree._tree", "Tree", "TreeNode"),
    ("builtins", "bytearray", "BytearrayNode"), ("numpy.random", "seed", "RandomGeneratorNode"),
    ("sklearn.svm._classes", "SVC", "ObjectNode"), ("builtins", "dict", "MethodNode"),
    ("numpy", "ndarray", "ConstructorFromReduceNode"), ("x", "y", "CachedNode"), ("", "", ""),
    ("sklearn.linear_model._ridge", "Ridge", "ObjectNode"), ("builtins", "tuple", "ListNode"),
]  # fmt: skip
BOMB = bytes(50_000_000)
WAYS: dict[str, Callable[[Mutations, int], bytes]] = {
    "flip": Mutations.flip,
    "cut": Mutations.cut,
    "swap": Mutations.swap,
    "tree": Mutations.tree,
    "tree again": Mutations.tree,
    "graft": Mutations.graft,
    "array": Mutations.array,
    "header": Mutations.header,
    "pickle": Mutations.pickle,
    "vast": Mutations.vast,
    "bomb": Mutations.bomb,
    "deep": Mutations.deep,
    "path": Mutations.path,
    "schema": Mutations.schema,
    "cut json": Mutations.cut_json,
    "twice": Mutations.twice,
}
WAYS_OF_MODELS: dict[str, Callable[[Mutations, int], bytes]] = {
    "model flip": Mutations.model_flip,
    "model cut": Mutations.model_cut,
    "model tree": Mutations.model_tree,
    "model term": Mutations.model_term,
    "model array": Mutations.model_array,
    "model pickle": Mutations.model_pickle,
    "model stranger": Mutations.model_stranger,
    "model bomb": Mutations.model_bomb,
    "model vast": Mutations.model_vast,
}
# Damage that no file can hide. Other files may be other whole ones, such as of another number.
ALWAYS = {"cut", "pickle", "vast", "bomb", "deep", "path", "schema", "cut json", "twice"}
ALWAYS |= {f"model {name}" for name in ("cut", "pickle", "stranger", "bomb", "vast")}
# What no loading does; `compile` of "<unknown>" makes a syntax tree, which numpy reads headers by.
ACTS = ("os.", "subprocess.", "socket.", "shutil.", "pickle.", "marshal.", "exec", "compile")


class Watch:
    """Notes what is written, started or executed while a file is loaded."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.on = False
        # Splines and contrasts are code of listed functions, which patsy evaluates by such texts.
        self.formulas: set[bytes] = set()
        self.learns = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.learns and event == "compile" and arguments[1] == "<string>":
            self.formulas.add(arguments[0])
        if not self.on:
            return
        writes = event == "open" and set(str(arguments[1])) & set("wax+")
        parsed = event == "compile" and arguments[1] == "<unknown>"
        parsed |= event == "compile" and arguments[0] in self.formulas
        # What runs was compiled before, from a text that is looked at there.
        parsed |= event == "exec" and arguments[0].co_filename == "<string>"
        if writes or (event.startswith(ACTS) and not parsed):
            self.acts.append(f"{event} {arguments!r}"[:200])


def uses(results: Any) -> None:
    """Ask what users ask of loaded results."""
    for name in ("tidy", "summary", "glance", "summary_frame", "conf_int"):
        if hasattr(results, name):
            str(getattr(results, name)())
    if hasattr(results, "pfi"):
        results.pfi("bmi").summary()
        if results.analysis.problem.elsewhere is None:
            results.pd("bp", points=3).summary()
            results.predict(results.analysis.problem.population.variables)


def outcome_of(data: bytes, watch: Watch, *, hear: bool = True) -> tuple[str, float]:
    """Return what became of a file, "refused", "loaded" or a failure, and seconds of computing."""
    FILE.write_bytes(data)
    begin = time.process_time()  # of this process alone: a busy machine changes nothing
    try:
        watch.on, watch.learns = hear, not hear
        results = pi.load(FILE)
        outcome = "loaded"
    except FileError as error:
        outcome = "refused" if len(str(error)) < LONGEST else f"LONG {str(error)[:300]}"
    except BaseException as error:  # noqa: BLE001 - that is the question
        outcome = f"LOAD {type(error).__name__}: {error}"[:300]
    finally:
        watch.on = watch.learns = False
    seconds = time.process_time() - begin
    if outcome == "loaded":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                uses(results)
        except PyinterpError:
            pass
        except BaseException as error:  # noqa: BLE001
            outcome = f"LATER {type(error).__name__}: {error}"[:300]
    return outcome, seconds


def main(number: int, seed: int, *, models: bool = False) -> dict[str, Any]:
    modules = [part for name, part in sys.modules.items() if name.startswith("pyinterp")]
    every = {kind for part in modules for kind in vars(part).values() if isinstance(kind, type)}
    for kind in every:  # annotations are read before one listens
        if is_dataclass(kind) or hasattr(kind, "_fields") or "state_on_file" in vars(kind):
            with contextlib.suppress(NameError):  # of classes that no file holds
                types_of(kind)
    importlib.import_module("zoneinfo")
    files = whole_files_of_models() if models else whole_files()
    mutations, watch = Mutations(files, seed, models=models), Watch()
    for data in mutations.files:
        outcome, _ = outcome_of(data, watch, hear=False)
        if outcome != "loaded":
            raise ValueError(outcome)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts: Counter[str] = Counter()
    failures, slowest, slow = [], 0.0, ""
    for turn in range(number):
        way, of, data = mutations.next()
        outcome, seconds = outcome_of(data, watch)
        short = outcome if outcome in ("refused", "loaded") else "failed"
        counts[f"{way}: {short}"] += 1
        if short == "failed" or (short == "loaded" and way in ALWAYS):
            failures.append(f"{turn}, {way} of {of}: {outcome}")
            Path(f"failed-{turn}").write_bytes(data)
        if seconds > slowest:
            slowest, slow = seconds, f"{turn}, {way} of {of}"
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = {"whole", FILE.name, *(f"failed-{f.split(',')[0]}" for f in failures)}
    return {
        "counts": dict(sorted(counts.items())),
        "failures": failures,
        "slowest": slowest,
        "slow": slow,
        "megabytes": (after - before) / 1024,
        "acts": sorted(set(watch.acts)),
        "files": sorted({path.name for path in Path().iterdir()} - kept),
    }


if __name__ == "__main__":
    print(
        json.dumps(
            main(int(sys.argv[1]), int(sys.argv[2]), models="models" in sys.argv[3:]), indent=1
        )
    )
