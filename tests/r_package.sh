#!/usr/bin/env bash
# Checks the R package as CRAN does, with this Python, and runs the R code of its vignette and of docs/from_r.md.
set -euo pipefail
cd "$(dirname "$0")/.."
root="$PWD" python="$(realpath -s "${1:-.venv/bin/python}")"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export RETICULATE_PYTHON="$python" PYTHONPATH="$root" OMP_NUM_THREADS=1 _R_CHECK_FORCE_SUGGESTS_=false R_LIBS="$place"
for package in reticulate generics testthat; do
  if ! Rscript -e "loadNamespace('$package')" >/dev/null 2>&1; then
    echo "== the R package: skipped, R or its package $package is not installed"
    exit 0
  fi
done
cd "$place"
R CMD build --no-build-vignettes "$root/r_package" >/dev/null
R CMD check --no-manual --ignore-vignettes --no-build-vignettes pyinterpstats_*.tar.gz >log 2>&1 || true
status="$(grep '^Status:' log || true)"
# Only vignettes need knitr and rmarkdown. Without them R has a note.
if [ "$status" = "Status: 1 NOTE" ] && grep -q '^Packages\? suggested but not available for checking' log; then status="Status: OK"; fi
if [ "$status" != "Status: OK" ]; then
  cat log pyinterpstats.Rcheck/tests/*.fail 2>/dev/null
  exit 1
fi
cp -r pyinterpstats.Rcheck/pyinterpstats .
# Without Python the first call says what to install, in a sentence.
RETICULATE_PYTHON="$place/none" Rscript -e 'pyinterpstats::half_sampling()' >said 2>&1 || true
grep -q 'py_install("pyinterp-stats"' said || { cat said; exit 1; }
for page in "$root"/r_package/vignettes/*.Rmd "$root/docs/from_r.md"; do
  sed -n '/^```\({r}\|{code-block} r\)$/,/^```$/{/^```/d;/py_install/d;p}' "$page" >page.R
  Rscript page.R >page.out 2>&1 || { cat page.out; exit 1; }
done
echo "== the R package: Status OK"
