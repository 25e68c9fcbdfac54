"""Judge one input: ``python tests/fuzz/reproduce.py "res.pd('no such')"``."""

import os
import sys
import traceback

os.environ["PYINTERP_DATA"] = "/no such folder"

import specimens
from verdict import judge_source

if __name__ == "__main__":
    print(judge_source(sys.argv[1]))
    try:
        print(eval(sys.argv[1], specimens.names()))  # noqa: S307 - the caller's own expression
    except Exception:  # noqa: BLE001 - shown, whatever it is
        traceback.print_exc()
