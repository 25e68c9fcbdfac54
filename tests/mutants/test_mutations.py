"""Faults are what they say, and spare what is no number."""

import ast

import pytest
from mutations import code_lines, mutants_of, mutated
from run import ROOT, TESTS

MODULE = '''
"""A docstring of 1 + 2."""
__all__ = ["f"]
ROUNDING = 1e-12
Kind: TypeAlias = Literal[1, 2]

def f(x: list[1], y=0.5):
    """Return 3 * 4."""
    if x < 1 or not y:
        raise ValueError(f"{x + 1}" + "more")
    return table(np.sum(x, axis=0) - y, note="no" + "te")

class C:
    def g(self):
        return [v for v in self.h() if v]
'''


@pytest.fixture
def root(tmp_path):
    (tmp_path / "module.py").write_text(MODULE)
    return tmp_path


def test_faults_are_small_and_spare_texts_and_types(root):
    names = {m.name.removeprefix("module.py:") for m in mutants_of(root, "module.py")}
    short = {n for n in names if len(n) < 60}
    assert short == {
        "body: 1e-12 -> 9.999999999999999e-05",
        "f: 0.5 -> 1.0",
        "f: 0.5 -> 1.5",
        "f: x < 1 -> x <= 1",
        "f: x < 1 -> x > 1",
        "f: 1 -> 2",
        "f: 1 -> 0",
        "f: not y -> y",
        "f: x < 1 or not y -> x < 1 and (not y)",
        "f: x < 1 or not y -> x < 1",
        "f: x < 1 or not y -> not y",
        "f: raise ValueError(f'{x + 1}' + 'more') -> pass",
        "f: np.sum(x, axis=0) - y -> np.sum(x, axis=0) + y",
        "f: np.sum(x, axis=0) - y -> np.sum(x, axis=0)",
        "f: np.sum(x, axis=0) -> x",
        "f: np.sum(x, axis=0) -> np.sum(x)",
        "f: 0 -> 1",
        "f: 0 -> -1",
        "C.g: [v for v in self.h() if v] -> [v for v in self.h()]",
        "C.g: return [v for v in self.h() if v] -> return None",
    }
    assert {n.partition(" -> ")[2][:9] for n in names - short} == {
        "if False:", "if True: ", "return No", "np.sum(x,",
    }  # fmt: skip


def test_each_fault_changes_the_code_that_it_names_alone(root):
    whole = ast.unparse(ast.parse(MODULE))
    for mutant in mutants_of(root, "module.py"):
        code = ast.unparse(mutated(root, mutant))
        assert code != whole
        compile(mutated(root, mutant), "module.py", "exec")
        same = [a == b for a, b in zip(whole.splitlines(), code.splitlines(), strict=False)]
        assert same.count(False) <= 2 or "pass" in code or len(code) < len(whole)


def test_lines_of_code_are_counted(root):
    assert code_lines(root, "module.py") == 8


def test_files_of_tests_are_there():
    assert not [name for name in TESTS if not (ROOT / name).is_file()]
