"""Notebooks to hand out: twins with outputs, and a first cell that fetches and installs what is missing.

In a clone and on Binder nothing is missing.  In Colab, or wherever a single notebook was opened, the first cell
clones the project and installs those of its packages that are not there.
"""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .places import BUILD, REQUIREMENTS, ROOT
from .report import run, say
from .twins import assets, citations, pages, twin

FOLDER = BUILD / "notebooks"
ARCHIVE = BUILD / "receive-path-notebooks.zip"
#: What cells of the book import, by the name that it is imported under.
MODULES = {
    "numba": "numba", "numpy": "numpy", "simpy": "simpy", "matplotlib": "matplotlib", "jsonschema": "jsonschema",
    "SALib": "SALib", "rich": "rich", "ipywidgets": "ipywidgets", "anywidget": "anywidget", "myst_nb": "myst-nb",
    "dpkt": "dpkt",
}
HIDDEN = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
TITLE = "#@title Set-up: run this cell first"
CELL = '''\
{title}
# Installs what is missing: nothing in a clone of the project and on Binder, the project and its packages elsewhere.
import importlib.util, pathlib, subprocess, sys

ADDRESS = "{address}"  # where the project is cloned from
NEEDED = {needed}

def there(name):
    return importlib.util.find_spec(name) is not None

if not (there("sim") and there("widgets")):
    here = pathlib.Path.cwd()
    places = [*here.resolve().parents, here, here / "receive-path"]
    clone = next((place for place in places if (place / "sim" / "scenarios").is_dir()), None)
    if clone is None:
        if not ADDRESS:
            raise RuntimeError("write the address of the project's repository into ADDRESS, then run this cell again")
        clone = here / "receive-path"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", ADDRESS, str(clone)], check=True)
    sys.path.insert(0, str(clone))
missing = [package for name, package in NEEDED.items() if not there(name)]
if missing:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *missing], check=True)
if "google.colab" in sys.modules:  # Colab shows widgets of others only if asked to
    from google.colab import output
    output.enable_custom_widget_manager()
'''


def pins(requirements: Path = REQUIREMENTS) -> dict[str, str]:
    """What is needed, by import name, at the releases that the book is built with."""
    exact = dict(re.findall(r"^([\w.-]+)(==[\w.]+)", requirements.read_text(encoding="utf-8"), re.MULTILINE))
    return {module: package + exact.get(package, "") for module, package in MODULES.items()}


def origin(root: Path = ROOT) -> str:
    """Where this clone came from, if that is an address that others can clone; else nothing."""
    asked = subprocess.run(
        ["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True, check=False
    )
    address = asked.stdout.strip()
    return address if re.fullmatch(r"https://[\w.-]+/[\w./~-]+", address) else ""


def first_cell(address: str) -> NotebookNode:
    """The set-up cell."""
    needed = "{\n" + "".join(f'    "{name}": "{package}",\n' for name, package in pins().items()) + "}"
    return folded(nbformat.v4.new_code_cell(CELL.format(title=TITLE, address=address, needed=needed), id="set-up"))


def folded(cell: NotebookNode) -> NotebookNode:
    """A cell whose source a notebook program hides until it is asked for."""
    cell.metadata["jupyter"] = {"source_hidden": True}
    cell.metadata["cellView"] = "form"
    return cell


def notebook(page: Path, cited: dict[str, str], address: str, root: Path = ROOT) -> NotebookNode:
    """One page as a notebook to hand out."""
    made = twin(page, cited, root, outputs=True)
    for cell in made.cells:
        if cell.cell_type == "code" and HIDDEN & set(cell.metadata.get("tags", [])):
            folded(cell)
    if any(cell.cell_type == "code" for cell in made.cells):
        made.cells.insert(0, first_cell(address))
    return made


def write(folder: Path = FOLDER, archive: Path = ARCHIVE) -> list[Path]:
    """Write all notebooks and the pictures that they show, and pack them."""
    cited, address = citations(), origin()
    written = []
    for page in pages():
        target = folder / page.relative_to(ROOT).with_suffix(".ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(page, cited, address), target)
        written.append(target)
    pictures = assets(ROOT, folder)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted([*written, *pictures]):
            packed.write(path, Path("receive-path-notebooks") / path.relative_to(folder))
    return written


def main() -> None:
    """Write the notebooks and say where they are."""
    written = write()
    say(f"{len(written)} notebooks in {FOLDER.relative_to(ROOT)}/, packed as {ARCHIVE.relative_to(ROOT)}")


if __name__ == "__main__":
    run(main)
