# The Receive Path. Every target says what it does, stops at the first error and can be run again.
#   make book          the pages          make test       every quick test
#   make help          the rest
.DEFAULT_GOAL := help
.PHONY: help setup engine browser book epub pdf slides notebooks release linkcheck test test-all test-every lint lab serve bench sensitivity fuzz wasm course kit grade test-class hub test-hub clean
MAKEFLAGS += --no-print-directory

# PYTHON names the Python that makes .venv; empty: the first of 3.11 to 3.13 that is found.
PYTHON ?=
PORT ?= 8000
MINUTES ?= 5
# COURSE names the course directory: the teacher's, with the gradebook; make clean leaves it alone.
COURSE ?= course
JOBS ?= 2
RUN := .venv/bin/python

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-11s %s\n", $$1, $$2}'

setup:  ## .venv with the pinned requirements
	@python=$$(sh book/build/find_python.sh "$(PYTHON)") && "$$python" -m book.build.environment

engine: setup  ## the simulation compiled ahead, so that no page waits for it
	@$(RUN) -m book.build.engine

browser: setup  ## a browser for the tests
	@$(RUN) -m book.build.browser

book: engine  ## the book, as pages that need no network and no server
	@$(RUN) -m book.build.pages

epub: engine  ## the book for readers, with still pictures
	@$(RUN) -m book.build.paper epub

pdf: engine browser  ## the book for paper, with still pictures
	@$(RUN) -m book.build.paper pdf

slides: book  ## slides of the chapters, from the pages' figures
	@$(RUN) -m book.build.slides

notebooks: book  ## notebooks to hand out: they install what is missing
	@$(RUN) -m book.build.notebooks

release: book  ## the pages as an archive with manifest and checksum
	@$(RUN) -m book.build.release

linkcheck: engine  ## asks every address that the pages link to; never fails
	@$(RUN) -m book.build.links

lint: setup  ## style, types and spelling
	@echo "ruff, mypy and the pages' spelling"
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m mypy
	@$(RUN) -m book.build.spelling

test: lint browser book  ## every quick test, in under 10 minutes
	@$(RUN) -m pytest -n 2 --dist worksteal

test-all: browser book  ## the slow tests, which make test leaves out
	@$(RUN) -m pytest -n 2 --dist worksteal -m "slow and not exhaustive"

test-every: browser book  ## what the slow tests take a choice of, the rest of it
	@$(RUN) -m pytest -n 2 --dist worksteal -m exhaustive

lab: engine  ## JupyterLab on notebook twins of the pages
	@$(RUN) -m book.build.twins --lab

serve: book  ## the built pages on http://localhost:8000 (PORT=8000)
	@$(RUN) -m book.build.serve $(PORT)

bench: engine browser  ## speed, as a table and as bench.json
	@$(RUN) -m tests.bench --json bench.json

sensitivity: engine  ## what the conclusions rest on, as sim/sensitivity.json
	@$(RUN) -m sim sensitivity

fuzz: engine  ## engines against each other on random programs (MINUTES=5)
	@$(RUN) -m tests.sim.fuzz --minutes $(MINUTES)

wasm: setup  ## the WebAssembly module, after a change of the engine
	@$(RUN) -m sim.wasm.compile

course: engine  ## the assignments, released and tested (COURSE=course)
	@$(RUN) -m book.course generate $(COURSE)

grade: engine  ## hand-ins run, judged, written down: make grade ASSIGNMENT=tcp-5.17 (JOBS=2)
	@test -n "$(ASSIGNMENT)" || { echo "error: which one? make grade ASSIGNMENT=tcp-5.17"; exit 2; }
	@$(RUN) -m book.course grade $(COURSE) $(ASSIGNMENT) --jobs $(JOBS) $(OPTIONS)

test-class: engine  ## a class of 40 graded by the real commands (STUDENTS=40)
	@$(RUN) -m tests.book.course.large --students $(or $(STUDENTS),40)

kit: setup  ## what students get: released notebooks and the simulation, packed (COURSE=course)
	@$(RUN) -m book.course kit $(COURSE)

hub: engine  ## a JupyterHub for the course on this server (HUB=_build/hub)
	@$(RUN) -m book.course.hub $(HUB)

test-hub: hub  ## a hub on loopback: a teacher, three students, the whole cycle
	@$(RUN) -m pytest -m slow tests/book/course/test_hub.py tests/book/course/test_ngshare.py

clean:  ## all that make has made, .venv included
	@echo "removing .venv, _build, lab and caches"
	@rm -rf .venv _build lab bench.json .pytest_cache .mypy_cache .ruff_cache .hypothesis .numba_cache *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
