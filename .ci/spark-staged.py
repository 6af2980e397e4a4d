"""Runs the two lines that Spark's page names on a fresh Spark, from a staged repository: spark-staged.py REPOSITORY VERSION DIRECTORY

Spark comes from PyPI into an environment of its own, Ivy begins with an empty directory, and what it resolves of S3E has to be the staged file, byte
for byte. The job runs twice, as `spark-submit --packages … --conf spark.plugins=…` and as PySpark's builder, and counts the lines of an object that a
small server of this script holds; each for every Spark that is listed below. Then Iceberg's line of its page: a table in moto's S3 is written and read.
It ends well only if counts are right, S3E's streams have read, and the server saw ranges. Each line has the seconds from the empty directory on.
"""

import hashlib
import html
import http.server
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import venv

# Of PyPI, and the artifact that its page names. Of 4.3 Maven Central has nothing to build a line with; the one before runs on it.
SPARKS = {"3.5.9": "s3e-spark-3.5_2.12", "4.1.4": "s3e-spark-4.1_2.13", "4.3.0": "s3e-spark-4.2_2.13"}
SPARK_OF_ICEBERG, MOTO = "4.1.4", "5.2.5"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0,org.apache.iceberg:iceberg-aws-bundle:1.12.0"
ROWS = 400_000
PLUGIN = "io.s3e.spark.S3EPlugin"
BUCKET, KEY, LINES = "staged", "lines.txt", 400_000
ETAG = '"00000000000000000000000000000001"'
MODIFIED = "Wed, 01 Jan 2025 00:00:00 GMT"
PATIENCE_SECONDS = 900

JOB = '''
import os, sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").appName("staged")
for entry in filter(None, os.environ.get("STAGED_CONF", "").split("\\n")):
    builder = builder.config(*entry.split("=", 1))
spark = builder.getOrCreate()
print("RESULT lines", spark.read.text(sys.argv[1]).count())
path = spark._jvm.org.apache.hadoop.fs.Path(sys.argv[1])
stream = path.getFileSystem(spark._jsc.hadoopConfiguration()).open(path)
print("RESULT stream", stream.getWrappedStream().getClass().getName())
stream.close()
spark.stop()
'''

ICEBERG_JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").appName("staged").getOrCreate()
spark.sql("CREATE TABLE lake.db.rows USING iceberg AS SELECT id, id * 7 AS seven FROM range(%d)")
print("RESULT sum", spark.sql("SELECT sum(seven) FROM lake.db.rows").first()[0])
table = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, "lake.db.rows")
# Without its length, which manifests tell, a file is read by one GET of S3FileIO's own stream.
file, length = spark.sql("SELECT file_path, file_size_in_bytes FROM lake.db.rows.files").first()
stream = table.io().newInputFile(file, length).newStream()
print("RESULT io", table.io().getClass().getName())
print("RESULT stream", stream.getClass().getName())
stream.close()
spark.stop()
""" % ROWS


class Store(http.server.BaseHTTPRequestHandler):
    """One object by HEAD, GET and listing, and nothing else: no credentials are asked for."""

    protocol_version = "HTTP/1.1"
    content = b"".join(b"line %d of an object that nobody has read before\n" % n for n in range(LINES))
    ranges = 0

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        path, _, query = self.path.partition("?")
        if path.rstrip("/") == f"/{BUCKET}" and "list-type" in query:
            self.send(200, self.listing(urllib.parse.parse_qs(query).get("prefix", [""])[0]), {"Content-Type": "application/xml"}, body)
            return
        if path != f"/{BUCKET}/{KEY}":
            self.send(404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"}, body)
            return
        headers = {"ETag": ETAG, "Last-Modified": MODIFIED, "Accept-Ranges": "bytes", "Content-Type": "text/plain"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self.send(200, self.content, headers, body)
            return
        Store.ranges += 1
        first = int(asked[1])
        last = min(int(asked[2] or len(self.content)), len(self.content) - 1)
        if first > last:
            self.send(416, b"", {"Content-Range": f"bytes */{len(self.content)}"}, body)
            return
        headers["Content-Range"] = f"bytes {first}-{last}/{len(self.content)}"
        self.send(206, self.content[first : last + 1], headers, body)

    def listing(self, prefix):
        """Spark asks for what lies below the object, before it takes it for one."""
        found = (
            f"<Contents><Key>{KEY}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified><ETag>{html.escape(ETAG)}</ETag>"
            f"<Size>{len(self.content)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        )
        content = found if KEY.startswith(prefix) else ""
        return (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><Prefix>{html.escape(prefix)}</Prefix><KeyCount>{1 if content else 0}</KeyCount><MaxKeys>1000</MaxKeys>"
            f"<IsTruncated>false</IsTruncated>{content}</ListBucketResult>"
        ).encode()

    def send(self, status, content, headers, body):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content)), "x-amz-request-id": "staged"}).items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_):
        """Requests are counted, not told."""


def settings(staged, artifact, version, ivy, endpoint):
    """What a user would write: the repository and the two lines; the rest says where this script's store is."""
    group = re.search(r"<groupId>([^<]+)</groupId>", pathlib.Path("pom.xml").read_text())[1]
    return {
        "spark.jars.repositories": staged.as_uri(),
        "spark.jars.packages": f"{group}:{artifact}:{version}",
        "spark.plugins": PLUGIN,
        "spark.jars.ivy": str(ivy),
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.hadoop.hadoop.tmp.dir": str(ivy.parent / "tmp"),
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "staged",
        "spark.hadoop.fs.s3a.secret.key": "staged",
    }, group


def verify(way, command, environment, log, count="lines", expected=LINES):
    began = time.monotonic()
    with open(log, "w") as out:
        subprocess.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT, timeout=PATIENCE_SECONDS, check=False)
    text = log.read_text()
    results = dict(re.findall(r"^RESULT (\w+) (\S+)$", text, re.M))
    if results.get(count) != str(expected) or not results.get("stream", "").startswith("io.s3e."):
        sys.exit("\n".join(text.splitlines()[-40:]) + f"\nspark: {way}: {results or 'no result'} instead of {expected} {count} by a stream of S3E; see {log}")
    print(f"{way}: {expected} {count} by {results['stream']}, {time.monotonic() - began:.0f} s", flush=True)
    return text


def same(ivy, staged, artifact, version, group):
    """S3E came from the staged repository, and not from one that knew another build of it."""
    resolved = ivy / "jars" / f"{group}_{artifact}-{version}.jar"
    here = staged / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.jar"
    if not resolved.is_file() or hashlib.sha256(resolved.read_bytes()).digest() != hashlib.sha256(here.read_bytes()).digest():
        sys.exit(f"spark: {resolved} is not {here}")


def run(spark, artifact, staged, version, work):
    began = time.monotonic()
    work.mkdir(parents=True, exist_ok=True)
    venv.create(work / "venv", with_pip=True)
    binaries = work / "venv" / "bin"
    subprocess.run([binaries / "pip", "install", "-q", f"pyspark=={spark}"], check=True, timeout=PATIENCE_SECONDS)
    job = work / "job.py"
    job.write_text(JOB)
    Store.ranges = 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    conf, group = settings(staged, artifact, version, work / "ivy", f"http://127.0.0.1:{server.server_address[1]}")
    plain = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "PYTHONPATH")}
    plain["PATH"] = f"{binaries}:{plain['PATH']}"
    # Ivy also looks into Maven's repository at home, and fails for a library of which only the POM is there: a newcomer has none.
    plain["SPARK_SUBMIT_OPTS"] = f"-Duser.home={work}"
    uri = f"s3a://{BUCKET}/{KEY}"
    submit = [binaries / "spark-submit", "--packages", conf["spark.jars.packages"], "--repositories", conf["spark.jars.repositories"]]
    for name, value in conf.items():
        if name not in ("spark.jars.packages", "spark.jars.repositories"):
            submit += ["--conf", f"{name}={value}"]
    text = verify("spark-submit", [*submit, job, uri], plain, work / "submit.log")
    said = re.search(r"S3E \S+ on Hadoop .*", text)
    if said is None:
        sys.exit(f"spark: the plugin said nothing; see {work / 'submit.log'}")
    print(said[0])
    same(work / "ivy", staged, artifact, version, group)
    entries = "\n".join(f"{name}={value}" for name, value in conf.items())
    # Under python Spark logs from WARN on, so the plugin's line is not there.
    verify("PySpark", [binaries / "python", job, uri], plain | {"STAGED_CONF": entries}, work / "pyspark.log")
    if Store.ranges == 0:
        sys.exit("spark: the store saw no range")
    print(f"Spark {spark} by {artifact}: both ways, {Store.ranges} ranges, {time.monotonic() - began:.0f} s with the download of Spark", flush=True)
    server.shutdown()
    if spark == SPARK_OF_ICEBERG:
        iceberg(binaries, artifact, conf, plain, work)


def iceberg(binaries, artifact, conf, environment, work):
    """The line of docs/start/iceberg.md in a Hadoop catalog, whose files S3FileIO would read without it."""
    began = time.monotonic()
    subprocess.run([binaries / "pip", "install", "-q", f"moto[s3,server]=={MOTO}"], check=True, timeout=PATIENCE_SECONDS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(work / "moto.log", "w") as log:
        moto = subprocess.Popen([binaries / "moto_server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=subprocess.STDOUT)
    try:
        put_bucket(port)
        of = {name: value for name, value in conf.items() if name not in ("spark.jars.packages", "spark.jars.repositories")}
        of |= {"spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{port}", "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog"}
        of |= {
            f"spark.sql.catalog.lake.{name}": value
            for name, value in {
                "type": "hadoop",
                "warehouse": f"s3a://{BUCKET}/lake",
                "io-impl": "io.s3e.iceberg.S3EFileIO",
                "s3.endpoint": f"http://127.0.0.1:{port}",
                "s3.path-style-access": "true",
                "s3.access-key-id": "staged",
                "s3.secret-access-key": "staged",
                "client.region": "us-east-1",
            }.items()
        }
        job = work / "iceberg.py"
        job.write_text(ICEBERG_JOB)
        command = [binaries / "spark-submit", "--packages", f"{conf['spark.jars.packages']},{ICEBERG}"]
        command += ["--repositories", conf["spark.jars.repositories"]]
        for entry in of.items():
            command += ["--conf", "=".join(entry)]
        verify("Iceberg", [*command, job], environment, work / "iceberg.log", "sum", 7 * ROWS * (ROWS - 1) // 2)
    finally:
        moto.terminate()
        moto.wait()
    print(f"Iceberg by {artifact}: {time.monotonic() - began:.0f} s", flush=True)


def put_bucket(port):
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT"), timeout=10):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    for spark, artifact in SPARKS.items():
        run(spark, artifact, pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve() / spark)
