"""The parts of .ci/site that are its own.

site.py links            links of the Markdown files lead to files and headings that are there; lines are short, each is in the navigation,
                         and commands have a comment that says who runs them
site.py copy DIRECTORY   the pages of the site: docs/, the root's pages, a list of the decisions; links to other files go to the repository
site.py built DIRECTORY  links of the built pages lead to files and anchors that are there
"""

import functools
import html.parser
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT_PAGES = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
README_LINES, WIDTH = 90, 120
LINK = re.compile(r"(?<!`)(!?\[(?:[^\]\[]|\[[^\]]*\])*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)


def outside_code(text, change):
    """The text with change() applied to what is in no fenced block."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join(parts + [change(text[end:])])


def anchors(page):
    """The headings' anchors as GitHub makes them."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.+)$", FENCE.sub("", page.read_text()), re.M):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, last in found.items() for n in range(last + 1)}


@functools.cache
def files(pattern):
    """The files of the repository of such names, committed or not."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", pattern], check=True, capture_output=True, text=True).stdout
    return [file for file in map(pathlib.Path, listed.split("\n")) if file.suffix and file.exists()]


def pages():
    return files("*.md")


def links():
    dead = []
    for page in pages():
        for _, target in LINK.findall(FENCE.sub("", page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / urllib.parse.unquote(path) if path else page
            if not file.exists():
                dead.append(f"{page}: {target}: there is no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                dead.append(f"{page}: {target}: there is no such heading")
    dead += long() + strays() + unmarked()
    report(dead, f"{len(pages())} pages")


def long():
    """Lines that are longer than they are read gladly, but for rows of tables, which Markdown has on one; and of README, lines that are too many."""
    lines = {page: page.read_text().splitlines() for page in pages()}
    wide = [
        f"{page}:{n}: {len(line)} characters, of {WIDTH}"
        for page in lines
        for n, line in enumerate(lines[page], 1)
        if len(line) > WIDTH and (page.name == "README.md" or not line.startswith("|"))
    ]
    readme = len(lines[pathlib.Path("README.md")])
    return wide + ([f"README.md: {readme} lines, of {README_LINES}"] if readme > README_LINES else [])


def strays():
    """Pages of docs/ that the navigation leaves out."""
    named = set(re.findall(r"(\S+\.md)$", pathlib.Path("mkdocs.yml").read_text(), re.M))
    here = [page.relative_to("docs").as_posix() for page in pages() if page.parts[0] == "docs" and page.parts[1] != "adr"]
    return [f"mkdocs.yml: {page} is not in nav" for page in here if page not in named]


def unmarked():
    """Commands that no comment before them says who runs: <!-- run: ATest, .ci/script, by hand -->, or "not", where the page says so too."""
    wrong = []
    for page in pages():
        if page.parts[0] != "docs" or page.parts[1] == "adr":
            continue
        text = page.read_text()
        lines = text.splitlines()
        for fence in FENCE.finditer(text):
            n = text.count("\n", 0, fence.start())
            mark = re.search(r"<!-- run: (.+) -->", lines[n - 1])
            around = "\n".join(lines[max(0, n - 16) : n + 9])
            wrong += [f"{page}:{n + 1}: {fault}" for fault in faults(lines[n].strip(" `"), mark and mark[1], around)]
    return wrong


def faults(language, runner, around):
    """What is wrong with who is said to run a block of commands; runner is None where nobody is named."""
    if not language:
        return ["of what language is it?"]
    if not runner:
        return ["who runs the command? <!-- run: … --> is not above it"] if language == "bash" else []
    if runner == "not":
        told = re.search("not run|nobody has", around, re.I)
        return [] if told else ["nobody runs the command, and the page does not say so"]
    tests = {test.stem for test in files("*Test.java")}
    named = re.findall(r"\w+Test\b", runner)
    scripts = re.findall(r"\.ci/\S+\b", runner)
    absent = [name for name in named if name not in tests] + [script for script in scripts if not pathlib.Path(script).exists()]
    if not (named or scripts or runner == "by hand"):
        return [f"{runner} runs nothing"]
    return [f"there is no {name}" for name in absent]


def copy(directory):
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree("docs", directory)
    for page in ROOT_PAGES:
        shutil.copy(page, directory / page)
    decisions = sorted((directory / "adr").glob("[0-9]*.md"))
    titles = [f"- [{page.read_text().split(chr(10), 1)[0].lstrip('# ')}]({page.name})" for page in decisions]
    (directory / "adr" / "index.md").write_text("# Decisions\n\nDecisions that could have gone otherwise.\n\n" + "\n".join(titles) + "\n")
    repository = re.search(r"^repo_url: (\S+)", pathlib.Path("mkdocs.yml").read_text(), re.M)[1]
    for page in directory.rglob("*.md"):
        relative = page.relative_to(directory)
        source = relative if str(relative) in ROOT_PAGES else "docs" / relative
        page.write_text(outside_code(page.read_text(), lambda text: LINK.sub(lambda link: moved(link, source, repository), text)))


def moved(link, source, repository):
    """A link of the page source, as the site's copy of the page has it."""
    if re.match(r"[a-z]+:|#", link[2]):
        return link[0]
    path, hash, anchor = link[2].partition("#")
    target = posixpath.normpath(posixpath.join(source.parent.as_posix(), path))
    if target in ROOT_PAGES:
        target = "docs/" + target
    if target == "docs/adr":
        target += "/index.md"
    if target.startswith("docs/"):
        here = source if source.parts[0] == "docs" else "docs" / source
        return f"{link[1]}({posixpath.relpath(target, here.parent.as_posix())}{hash}{anchor})"
    kind = "tree" if pathlib.Path(target).is_dir() else "blob"
    return f"{link[1]}({repository}/{kind}/main/{target}{hash}{anchor})"


class Page(html.parser.HTMLParser):
    """What a built page links to, and its anchors."""

    def __init__(self, file):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value and tag in ("a", "img", "script", "link"):
                self.targets.append(value)
            if name == "id":
                self.anchors.add(value)


def built(directory):
    built = {file: Page(file) for file in directory.rglob("*.html") if file.name != "404.html"}
    dead = []
    for file, page in built.items():
        for target in page.targets:
            if re.match(r"[a-z]+:|//", target):
                continue
            path, _, anchor = target.partition("#")
            to = (file.parent / urllib.parse.unquote(path.split("?")[0])).resolve() if path else file.resolve()
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                dead.append(f"{file}: {target}: there is no such file")
            elif anchor and to.suffix == ".html":
                there = next((other for name, other in built.items() if name.resolve() == to), None)
                if there and anchor not in there.anchors:
                    dead.append(f"{file}: {target}: there is no such anchor")
    missing = [name for name in ("index.html", "INSTALL.html", "adr/index.html") if not (directory / name).exists()]
    report(dead + [f"{name} was not built" for name in missing], f"{len(built)} built pages")


def report(dead, what):
    if dead:
        sys.exit("site: " + "\nsite: ".join(dead))
    print(f"{what}: nothing is wrong")


if __name__ == "__main__":
    if sys.argv[1:] == ["links"]:
        links()
    elif len(sys.argv) == 3 and sys.argv[1] in ("copy", "built"):
        {"copy": copy, "built": built}[sys.argv[1]](pathlib.Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
