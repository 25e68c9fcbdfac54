"""Files of results that are damaged or forged at random, and what `pi.load` does with them.

A program: ``python damaged_files.py NUMBER SEED`` works in the current folder and prints JSON.
Damage is of bytes, as by a disk. Forgers write digests that agree with what they change.
"""

import copy
import hashlib
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
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import FileError

MANIFEST = "manifest.json"
FILE = Path("damaged.pyinterp")
CODE = {
    "class": "Factor", "key": "x", "code": "x", "column": None, "variables": ["bmi"], "names": [],
    "code_to_run": "__import__('pathlib').Path('trap').touch()", "levels_of": None,
}  # fmt: skip
DESIGN = {
    "class": "FormulaDesign",
    "terms": {"class": "RightSide", "intercept": True, "products": [[CODE]]},
    "variables": {"DataFrame": [[], {"RangeIndex": [0, 0, 1, None]}, {"RangeIndex": [0, 0, 1, 0]}]},
    "scope": {"dict": []}, "intercept": True,
}  # fmt: skip
# What stands in a tree instead of what was there.
JUNK = [
    None, True, -1, 1e308, 2**70, "x", "a" * 10_000, [], {}, [[[[[]]]]], {"array": "../../x"},
    {"array": "results/replicates/sums/values"}, {"class": "os.system"}, {"class": ["Loss"]},
    {"class": "Predictor", "estimator": 3}, {"function": ["os.system"]}, {"float": "x"},
    {"RangeIndex": [0, 10**6, 1, None]}, {"objects": [[10**6, 10**6], []]},
    {"column": ["object", {"array": "results/data/0/0"}]}, {"DataFrame": [[], [], 3]},
    {"column": ["datetime64[ns, ../../etc/passwd]", {"array": "results/data/0/0"}]},
    DESIGN, CODE, {"class": "Checkpoint", "folder": "."},
]  # fmt: skip


class Trap:
    """An object whose pickle writes a file."""

    def __reduce__(self):
        return Path.write_text, (Path("trap"), "x")


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def vast(shape):
    """Return an array whose header promises more than the file has."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


ARRAYS = [
    npy(np.zeros((2, 2))), npy(np.array(["a"])), npy(np.zeros(0)), npy(np.full((5, 3), np.nan)),
    npy(np.array([Trap()], object)), pickle.dumps(Trap()), vast("(10**12,)"),
    vast("(1000000000000,)"), vast("(-1,)"),
]  # fmt: skip


def whole_files():
    """Return files of several kinds of results, each of 80 rows."""
    data = pi.datasets.load_diabetes().iloc[:80]
    learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    fit = learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)
    pfi = fit.pfi()
    every = [
        pfi, fit.importance(["mvim", "cvim"]), fit.pd("bmi"), pfi.t_test("bmi = bp"),
        pi.compare(pfi, pfi), fit,
    ]  # fmt: skip
    files = []
    for results in every:
        results.save(FILE)
        files.append(FILE.read_bytes())
    return files


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def forged(members, tree=None):
    """Return the file of members, and maybe another tree, whose digests agree."""
    manifest = json.loads(members[MANIFEST])
    manifest["arrays"] = {
        name.removesuffix(".npy"): hashlib.sha256(data).hexdigest()
        for name, data in members.items()
        if name != MANIFEST
    }
    manifest["results"] = manifest["results"] if tree is None else tree
    return packed({**members, MANIFEST: json.dumps(manifest).encode()})


def places_of(tree, place=()):
    """Yield the places in a tree, of lists the first 50."""
    yield place
    parts = tree.items() if isinstance(tree, dict) else ()
    for name, part in enumerate(tree[:50]) if isinstance(tree, list) else parts:
        yield from places_of(part, (*place, name))


def flip(data, rng):
    other = bytearray(data)
    for _ in range(rng.choice([1, 1, 5, 100])):
        other[rng.randrange(len(other))] ^= 1 << rng.randrange(8)
    return bytes(other)


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def swap(data, rng):
    """Exchange the bytes of two members."""
    members = members_of(data)
    one, other = rng.sample(list(members), 2)
    members[one], members[other] = members[other], members[one]
    return packed(members)


def tree(data, rng):
    """Put junk, or another part of the tree, in the place of a part."""
    members = members_of(data)
    whole = json.loads(members[MANIFEST])["results"]
    places = [place for place in places_of(whole) if place]
    part = rng.choice(JUNK)
    if rng.random() < 0.3:
        part = whole
        for step in rng.choice(places):
            part = part[step]
    inner, place = whole, rng.choice(places)
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = copy.deepcopy(part)
    return forged(members, whole)


def array(data, rng):
    members = members_of(data)
    name = rng.choice([name for name in members if name.endswith(".npy")])
    members[name] = rng.choice([*ARRAYS, flip(members[name], rng)])
    return forged(members)


def bomb(data, rng):
    members = members_of(data)
    members[rng.choice([*members, "big.npy"])] = bytes(50_000_000)
    return packed(members, zipfile.ZIP_DEFLATED)


def deep(data, rng):
    members, depth = members_of(data), rng.choice([900, 5000, 200_000])
    manifest = json.dumps({**json.loads(members[MANIFEST]), "results": 0.5}).encode()
    nested = b'{"objects":[[],' * depth + b"]}" * depth
    return packed({**members, MANIFEST: manifest.replace(b"0.5", nested)})


DAMAGE = [flip, cut, swap]
FORGERY = [tree, tree, tree, array, bomb, deep]
# What no loading does; `compile` of "<unknown>" makes a syntax tree, which numpy reads headers by.
ACTS = ("os.", "subprocess.", "socket.", "shutil.", "pickle.", "marshal.", "exec", "compile")


class Watch:
    """Notes what is written, started or executed while a file is loaded."""

    def __init__(self):
        self.acts = set()
        self.on = False
        sys.addaudithook(self._hear)

    def _hear(self, event, arguments):
        if not self.on:
            return
        writes = event == "open" and set(str(arguments[1])) & set("wax+")
        parsed = event == "compile" and arguments[1] == "<unknown>"
        if writes or (event.startswith(ACTS) and not parsed):
            self.acts.add(f"{event} {arguments!r}"[:200])


def look_at(results):
    """Return the table of results, or of what a fit was asked."""
    return str(results.pfi().summary() if hasattr(results, "pfi") else results)


def main(number, seed):
    rng, watch = random.Random(seed), Watch()  # noqa: S311 - to be repeated
    files = whole_files()
    tables = []
    for data in files:
        FILE.write_bytes(data)
        tables.append(look_at(pi.load(FILE)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = Counter()
    failures, slowest = [], 0.0
    for turn in range(number):
        of, way = rng.randrange(len(files)), rng.choice([*DAMAGE, *FORGERY])
        FILE.write_bytes(way(files[of], rng))
        begin, outcome = time.process_time(), "loaded"
        watch.on = True
        try:
            results = pi.load(FILE)
        except FileError as error:
            outcome = "refused" if len(str(error)) < 600 else f"LONG {error}"
        except BaseException as error:  # noqa: BLE001 - that is the question
            outcome = f"{type(error).__name__}: {error}"
        watch.on = False
        slowest = max(slowest, time.process_time() - begin)
        if outcome == "loaded" and way in DAMAGE and look_at(results) != tables[of]:
            outcome = "ANOTHER TABLE"
        if outcome == "loaded":  # whatever else a forger wants, no code is run
            try:
                look_at(results)
            except Exception:  # noqa: BLE001
                outcome = "of no use"
        if outcome not in ("loaded", "refused", "of no use"):
            failures.append(f"{turn}, {way.__name__} of {of}: {outcome[:300]}")
        counts[f"{way.__name__}: {outcome[:9]}"] += 1
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "counts": dict(sorted(counts.items())),
        "failures": failures,
        "slowest": slowest,
        "megabytes": (after - before) / 1024,
        "acts": sorted(watch.acts),
        "files": sorted(path.name for path in Path().iterdir()),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2])), indent=1))
