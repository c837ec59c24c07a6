# make        environment, exercises, book, a sample class graded; the last lines say what to open
# make test   every test
# make serve  the built book on this computer
# make pdf    the whole book to print: _build/attention-step-by-step.pdf (wants Chromium)
# make zip    the built book to hand on without internet: _build/attention-step-by-step.zip
# make clean  remove the built book and the sample class; what is graded stays

PYTHON ?= python3
BIN := .venv/bin
export PYTHONUTF8 := 1
export OMP_NUM_THREADS := 1

.PHONY: all test serve pdf zip book exercises sample environment lint clean
.DELETE_ON_ERROR:

all: exercises book sample
	@echo
	@echo "Done. Open these two:"
	@echo "  the book:          _build/html/index.html   (or: make serve)"
	@echo "  the class report:  graded/report.html"

environment: .venv/installed

.venv/installed: requirements.txt constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is older or not there. Name another: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make an environment. On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 2; }
	@echo "== Making the environment in .venv (a minute or two; about 2 GB)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

exercises: .venv/installed
	@echo "== Releasing the exercises from solutions/"
	@$(BIN)/autograder release

book: exercises
	@echo "== Building the book: every page is run (a minute or two)"
	@$(BIN)/python book/build.py

sample: exercises
	@echo "== Grading a made-up class of 24"
	@rm -rf sample
	@$(BIN)/autograder sample sample --students 24 --seed 1
	@$(BIN)/autograder grade sample --out graded --regrade --yes

test: .venv/installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  echo "No Chromium here: the browser's tests are skipped. On Debian: sudo apt-get install chromium"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m pytest -n 2 --dist loadfile

serve: book
	@echo "The book is at http://localhost:8000 (Ctrl+C ends it)"
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory _build/html

pdf: book
	@echo "== Printing the book (a minute or two)"
	@$(BIN)/python book/press/pdf.py

zip: book
	@$(BIN)/python book/press/archive.py

clean:
	rm -rf _build sample
