"""Holds a staged repository against the rules of Maven Central: verify-staged.py DIRECTORY VERSION

https://central.sonatype.org/publish/requirements/: each POM has name, description, url, licence, scm and developers, each jar has sources and javadoc,
every file a signature and checksums. Beyond them: no SNAPSHOT, nothing of another version, a bill of materials for each jar; s3e-bom names
all jars and no others, and sources and documentation of the bundle, which are put together by hand, have its packages.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
import zipfile

POM = "{http://maven.apache.org/POM/4.0.0}"
REQUIRED = [
    "name", "description", "url", "licenses/license/name", "licenses/license/url", "developers/developer/name",
    "scm/connection", "scm/developerConnection", "scm/url",
]  # fmt: skip
# A package of each module that the bundle holds.
MODULES = {"io/s3e/", "io/s3e/hadoop/", "io/s3e/iceberg/"}
# What the bundle holds, as its bill of materials has to say.
HELD = {"s3e-core", "s3e-hadoop", "s3e-hadoop33", "s3e-iceberg", "aws-crt"}
SIDE = {".asc", ".md5", ".sha1", ".sha256", ".sha512"}

wrong = []


def text(pom, path):
    return (pom.findtext("/".join(POM + step for step in path.split("/"))) or "").strip()


def inherited(root, pom, path):
    """What a POM or the first of its staged parents says."""
    while pom is not None:
        if text(pom, path):
            return text(pom, path)
        group, artifact, version = (text(pom, "parent/" + part) for part in ("groupId", "artifactId", "version"))
        file = root / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"
        pom = xml.parse(file).getroot() if artifact and file.is_file() else None
    return ""


def verify_pom(root, file, version):
    """The artifact's packaging, and what its POM lacks."""
    pom = xml.parse(file).getroot()
    for path in REQUIRED:
        # A name and a description are each artifact's own.
        if not (text(pom, path) if path in ("name", "description") else inherited(root, pom, path)):
            wrong.append(f"{file.name}: no {path}")
    if pom.find(POM + "parent") is None and text(pom, "version") != version:
        wrong.append(f"{file.name}: version {text(pom, 'version')}, not {version}")
    content = file.read_text()
    for word in ("SNAPSHOT", "${", "<systemPath>"):
        # Those of packaging pom say ${project.version} and the like: of themselves.
        if word in content and not (word == "${" and text(pom, "packaging") == "pom"):
            wrong.append(f"{file.name}: has {word}")
    return text(pom, "packaging") or "jar"


def verify_jars(directory, stem):
    for end in (".jar", "-sources.jar", "-javadoc.jar"):
        jar = directory / (stem + end)
        if not jar.is_file():
            wrong.append(f"{jar.name}: is not there")
            continue
        with zipfile.ZipFile(jar) as entries:
            if sum(not name.startswith("META-INF/") for name in entries.namelist()) == 0:
                wrong.append(f"{jar.name}: is empty")
    if not (directory / (stem + "-cyclonedx.json")).is_file():
        wrong.append(f"{stem}: no bill of materials")


def verify_bundle(directory, stem):
    packages = re.compile(r"io/s3e/(?!shaded/)(?:.+/)?(?=[^/]+[.](?:class|java|html)$)")

    def held(end):
        if not (directory / (stem + end)).is_file():
            return set()
        with zipfile.ZipFile(directory / (stem + end)) as entries:
            return {found[0] for name in entries.namelist() if (found := packages.search(name))}

    classes = held(".jar")
    for end, needed in ((".jar", MODULES), ("-sources.jar", classes), ("-javadoc.jar", MODULES)):
        wrong.extend(f"{stem}{end}: has nothing of {package}" for package in sorted(needed - held(end)))
    bill = directory / (stem + "-cyclonedx.json")
    listed = {part["name"] for part in json.loads(bill.read_text())["components"]} if bill.is_file() else set()
    wrong.extend(f"{bill.name}: does not list {name}" for name in sorted(HELD - listed))


def verify_side_files(file):
    for sum in ("md5", "sha1", "sha256", "sha512"):
        side = file.with_name(f"{file.name}.{sum}")
        if not side.is_file() or side.read_text().split()[0] != hashlib.new(sum, file.read_bytes()).hexdigest():
            wrong.append(f"{file.name}: no {sum}, or a wrong one")
    signature = file.with_name(file.name + ".asc")
    if subprocess.run(["gpg", "--batch", "--verify", signature, file], capture_output=True).returncode:
        wrong.append(f"{file.name}: no signature, or a wrong one")


def main(root, version):
    poms = sorted(root.rglob("*.pom"))
    if not poms:
        sys.exit(f"verify: there is no POM below {root}")
    jars = set()
    for pom in poms:
        if pom.parent.name != version:
            wrong.append(f"{pom.name}: in a directory {pom.parent.name}")
        packaging = verify_pom(root, pom, version)
        if packaging != "pom":
            verify_jars(pom.parent, pom.stem)
            jars.add(pom.parent.parent.name)
        if pom.parent.parent.name == "s3e-hadoop-bundle":
            verify_bundle(pom.parent, pom.stem)
        print(f"{pom.stem}: {packaging}")
    for file in (file for file in root.rglob("*") if file.is_file() and file.suffix not in SIDE):
        verify_side_files(file)
    artifacts = {pom.parent.parent.name for pom in poms}
    boms = [pom for pom in poms if pom.parent.parent.name == "s3e-bom"]
    named = {entry.findtext(POM + "artifactId") for bom in boms for entry in xml.parse(bom).getroot().iter(POM + "dependency")}
    if not named:
        wrong.append("s3e-bom: is not there, or names nothing")
    wrong.extend(f"s3e-bom: names {name}, which is not staged" for name in sorted(named - artifacts))
    wrong.extend(f"s3e-bom: does not name {name}" for name in sorted(jars - named))
    if wrong:
        sys.exit("verify: " + "\nverify: ".join(wrong))
    print(f"{len(poms)} artifacts hold")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
