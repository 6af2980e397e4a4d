"""Turns a tree into that of a release: the version without SNAPSHOT wherever it stands, and the changelog's section named after it.

release-commit.py VERSION DIRECTORY   changes the tree
release-commit.py --check VERSION     says what hinders a release of the tree in the working directory
"""

import datetime
import pathlib
import re
import subprocess
import sys


def snapshot(root):
    found = re.search(r"<artifactId>s3e</artifactId>\s*<version>([^<]+)</version>", (root / "pom.xml").read_text())
    if not found or not found[1].endswith("-SNAPSHOT"):
        sys.exit("release: pom.xml has no version that ends with -SNAPSHOT")
    return found[1]


def unreleased(root):
    """What the changelog has under Unreleased."""
    found = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", (root / "CHANGELOG.md").read_text(), re.M | re.S)
    return found[1].strip() if found else ""


def check(root, version):
    old = snapshot(root).removesuffix("-SNAPSHOT")
    if version.split("-")[0] != old:
        sys.exit(f"release: VERSION is {version}, and the POM builds {old}-SNAPSHOT: a release of it is {old}, or {old}-rc1 and the like")
    if f"## [{version}]" in (root / "CHANGELOG.md").read_text():
        sys.exit(f"release: CHANGELOG.md has a section [{version}] already")
    if not re.search(r"^- ", unreleased(root), re.M):
        sys.exit("release: CHANGELOG.md has nothing under [Unreleased]: a release says what it brings")


def release(root, version):
    old = snapshot(root)
    files = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--", "pom.xml", "**/pom.xml", "*.md", "docs"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, files):
        path = root / name
        if path.suffix in {".xml", ".md", ".conf", ".json", ".sh"} and name != "CHANGELOG.md":
            text = path.read_text()
            if old in text:
                path.write_text(text.replace(old, version))
    changelog = root / "CHANGELOG.md"
    today = datetime.date.today().isoformat()
    changelog.write_text(changelog.read_text().replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n", 1))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        check(pathlib.Path("."), sys.argv[2])
    else:
        release(pathlib.Path(sys.argv[2]), sys.argv[1])
