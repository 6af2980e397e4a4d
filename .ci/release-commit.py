"""Turns a tree into that of a release: the version without SNAPSHOT in the POMs, that version behind each artifact that a page names, whatever
release stood there, and the changelog's section named after it.

release-commit.py VERSION DIRECTORY   changes the tree
release-commit.py --check VERSION     says what hinders a release of the tree in the working directory
release-commit.py --next VERSION      gives the POMs of the working directory the version that comes after a release, and leaves pages at the release
"""

import datetime
import pathlib
import re
import subprocess
import sys


def pom(root):
    """The group and the version of the POM."""
    found = re.search(r"<groupId>([^<]+)</groupId>\s*<artifactId>s3e</artifactId>\s*<version>([^<]+)</version>", (root / "pom.xml").read_text())
    if not found:
        sys.exit("release: pom.xml has no group and version of s3e")
    return found[1], found[2]


def snapshot(root):
    version = pom(root)[1]
    if not version.endswith("-SNAPSHOT"):
        sys.exit("release: pom.xml has no version that ends with -SNAPSHOT")
    return version


def tracked(root, *patterns):
    """Paths of the files in git that have such names."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *patterns], check=True, capture_output=True, text=True).stdout
    return [root / name for name in listed.split("\0") if name]


def unreleased(root):
    """What the changelog has under Unreleased."""
    found = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", (root / "CHANGELOG.md").read_text(), re.M | re.S)
    return found[1].strip() if found else ""


# How --check ends where there is nothing to release.
NOTHING = 3


def check(root, version):
    old = snapshot(root).removesuffix("-SNAPSHOT")
    if version.split("-")[0] != old:
        sys.exit(f"release: VERSION is {version}, and the POM builds {old}-SNAPSHOT: a release of it is {old}, or {old}-rc1 and the like")
    if f"## [{version}]" in (root / "CHANGELOG.md").read_text():
        sys.exit(f"release: CHANGELOG.md has a section [{version}] already")
    if not re.search(r"^- ", unreleased(root), re.M):
        print("release: CHANGELOG.md has nothing under [Unreleased]: a release says what it brings", file=sys.stderr)
        sys.exit(NOTHING)


def rewrite(path, change):
    text = path.read_text()
    changed = change(text)
    if changed != text:
        path.write_text(changed)


def release(root, version):
    old = snapshot(root)
    # Pages name the release before, where main has that one's commit.
    named = re.compile(rf"((?<![\w.]){re.escape(pom(root)[0])}:s3e[\w.-]*:)\d+(?:\.\d+)+(?:-\w+)?")
    for path in tracked(root, "pom.xml", "**/pom.xml", "*.md", "docs"):
        if path.name == "pom.xml":
            rewrite(path, lambda text: text.replace(old, version))
        elif path.suffix in {".xml", ".md", ".conf", ".json", ".sh"} and path.name != "CHANGELOG.md":
            rewrite(path, lambda text: named.sub(rf"\g<1>{version}", text.replace(old, version)))
    changelog = root / "CHANGELOG.md"
    today = datetime.date.today().isoformat()
    changelog.write_text(changelog.read_text().replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n", 1))


def begin(root, version):
    """Of S3E's own artifacts alone: another library may have the same version."""
    old = pom(root)[1]
    if not version.endswith("-SNAPSHOT"):
        sys.exit(f"release: the next version is {version}; it has to end with -SNAPSHOT")
    own = re.compile(rf"(<artifactId>s3e[\w.-]*</artifactId>\s*<version>){re.escape(old)}(</version>)")
    for path in tracked(root, "pom.xml", "**/pom.xml"):
        rewrite(path, lambda text: own.sub(rf"\g<1>{version}\g<2>", text))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        check(pathlib.Path("."), sys.argv[2])
    elif sys.argv[1] == "--next":
        begin(pathlib.Path("."), sys.argv[2])
    else:
        release(pathlib.Path(sys.argv[2]), sys.argv[1])
