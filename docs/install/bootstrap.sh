#!/usr/bin/env bash
# Puts S3E behind s3a://, s3:// and s3n:// on a host of Amazon EMR or Google Dataproc. EMR reads all three by S3A from
# release 7.10 on; where s3:// is EMRFS's, the outcome says so.
#
#   bootstrap.sh [--only-s3a] [--after-install] [--wait SECONDS] [--root DIR] [JAR]
#
#   JAR              the bundle jar: a file, s3://... (by aws) or gs://... (by gsutil). On Dataproc, which
#                    gives no arguments, the cluster's metadata "s3e-jar"
#   --only-s3a       leaves s3:// and s3n:// as they are
#   --after-install  returns at once and works in the background when Hadoop has been installed, for at
#                    most 30 minutes: EMR runs bootstrap actions before it installs anything.
#                    The outcome is in /var/log/s3e-bootstrap.log
#   --wait SECONDS   waits so long for Hadoop's configuration, for hadoop-aws and, where /usr/lib/spark is,
#                    for Spark's configuration
#   --root DIR       another root of the file system, for trying it
#
# Appends to class paths and replaces none. May run again: it changes nothing the second time.
# Exit codes: 0 done, 1 refused or failed, with the reason on standard error; 2 wrong usage.
set -euo pipefail

readonly least_hadoop=3.4.1
readonly least_java=17
readonly file_system=io.s3e.hadoop.S3EFileSystem
readonly abstract_file_system=io.s3e.hadoop.S3EAbstractFileSystem

refuse() {
  echo "s3e bootstrap: $1" >&2
  exit 1
}

usage() {
  echo "s3e bootstrap: $1" >&2
  echo "Usage: bootstrap.sh [--only-s3a] [--after-install] [--wait SECONDS] [--root DIR] [JAR]" >&2
  exit 2
}

schemes=(s3a s3 s3n)
after_install=false
wait_seconds=0
root=
jar=
while [ $# -gt 0 ]; do
  case $1 in
    --only-s3a) schemes=(s3a) ;;
    --after-install) after_install=true ;;
    --wait)
      [ $# -gt 1 ] || usage "--wait: expected SECONDS"
      case $2 in
        '' | *[!0-9]*) usage "--wait \"$2\": expected a number of seconds" ;;
      esac
      wait_seconds=$2
      shift
      ;;
    --root)
      [ -d "${2-}" ] || usage "--root \"${2-}\": expected a directory"
      root=$2
      shift
      ;;
    -*) usage "unknown option $1" ;;
    *)
      [ -z "$jar" ] || usage "one JAR expected, and not \"$jar\" and \"$1\""
      jar=$1
      ;;
  esac
  shift
done
metadata=$root/usr/share/google/get_metadata_value
if [ -z "$jar" ] && [ -x "$metadata" ]; then
  jar=$("$metadata" attributes/s3e-jar) || refuse "the cluster has no metadata s3e-jar"
fi
[ -n "$jar" ] || usage "JAR is missing"

# The options for another run of this script.
options=(--wait "$wait_seconds")
if [ ${#schemes[@]} = 1 ]; then
  options+=(--only-s3a)
fi

if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || refuse "must run as root, and there is no sudo"
  if $after_install; then
    options+=(--after-install)
  fi
  exec sudo bash "$0" "${options[@]}" "$jar"
fi

readonly home=$root/usr/lib/hadoop
readonly core_site=$root/etc/hadoop/conf/core-site.xml
readonly spark_defaults=$root/etc/spark/conf/spark-defaults.conf
readonly place=/usr/lib/s3e
readonly installed=$place/s3e-hadoop-bundle.jar
readonly log=$root/var/log/s3e-bootstrap.log

# The jar to its place, whole or not at all.
fetch() {
  mkdir -p "$root$place"
  local part=$root$installed.part
  case $jar in
    s3://*) aws s3 cp --only-show-errors "$jar" "$part" || refuse "aws s3 cp cannot fetch $jar" ;;
    gs://*) gsutil -q cp "$jar" "$part" || refuse "gsutil cannot fetch $jar" ;;
    *)
      [ -r "$jar" ] || refuse "$jar cannot be read"
      cp "$jar" "$part"
      ;;
  esac
  case $(head -c 2 "$part") in
    PK) ;;
    *)
      rm -f "$part"
      refuse "$jar is no jar"
      ;;
  esac
  chmod 644 "$part"
  mv -f "$part" "$root$installed"
}

# The first of what this script needs that is not installed; nothing where all of it is.
lacking() {
  if [ ! -r "$core_site" ]; then
    echo "$core_site"
  elif [ -z "$(hadoop_aws)" ]; then
    echo "hadoop-aws in $home"
  elif [ -d "$root/usr/lib/spark" ] && [ ! -f "$spark_defaults" ]; then
    echo "$spark_defaults"
  fi
}

# What still lacks then is refused, or left alone, by what needs it.
await_installation() {
  local end=$((SECONDS + wait_seconds)) told='' lacks
  while lacks=$(lacking) && [ -n "$lacks" ] && [ "$SECONDS" -lt "$end" ]; do
    if [ "$lacks" != "$told" ]; then
      echo "waiting for $lacks"
      told=$lacks
    fi
    sleep 1
  done
  [ -d "$home" ] || refuse "there is no Hadoop in $home"
  [ -r "$core_site" ] || refuse "there is no $core_site"
}

# Whether $1 is at least $2, as versions.
at_least() {
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# The first file below the directories that matches.
first_jar() {
  local pattern=$1
  shift
  find -L "$@" -maxdepth 2 -name "$pattern" ! -name '*-tests.jar' 2>/dev/null | sort | head -n 1 || true
}

hadoop_aws() {
  first_jar 'hadoop-aws*.jar' "$home" "$root/usr/lib/hadoop-mapreduce"
}

check_hadoop() {
  local common version
  common=$(first_jar 'hadoop-common-[0-9]*.jar' "$home")
  [ -n "$common" ] || refuse "there is no hadoop-common-VERSION.jar in $home"
  version=$(basename "$common" .jar)
  version=${version#hadoop-common-}
  # Without what a distribution adds: 3.4.1-amzn-2.
  at_least "${version%%-*}" $least_hadoop ||
    refuse "Hadoop is $version ($common), and this script needs $least_hadoop or newer"
  [ -n "$(hadoop_aws)" ] ||
    refuse "there is no hadoop-aws: add hadoop-aws-${version%%-*}.jar and the AWS SDK that it names to $home/lib"
  [ -n "$(first_jar 'bundle-2*.jar' "$home" "$root/usr/lib/hadoop-mapreduce")" ] ||
    [ -n "$(first_jar 'aws-sdk-java-bundle-2*.jar' "$root/usr/share/aws")" ] ||
    [ -n "$(first_jar 's3-2*.jar' "$home")" ] ||
    refuse "there is no AWS SDK for Java 2: add the software.amazon.awssdk:bundle of hadoop-aws to $home/lib"
  echo "Hadoop $version in $home"
}

check_java() {
  local java version
  java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  command -v "$java" >/dev/null || refuse "there is no $java; set JAVA_HOME"
  version=$("$java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p' | head -n 1)
  at_least "${version%%.*}" $least_java ||
    refuse "Java is $version ($java), and S3E needs $least_java or newer"
}

# Sets a property of core-site.xml; a file that has it already is left alone.
set_property() {
  local changed=$core_site.s3e-part status=0
  awk -v key="$1" -v value="$2" '
    function inside(block, tag) {
      if (!index(block, "<" tag ">")) return ""
      sub(".*<" tag ">[ \t\r\n]*", "", block)
      sub("[ \t\r\n]*</" tag ">.*", "", block)
      return block
    }
    { rest = rest $0 "\n" }
    END {
      kept = ""
      while ((start = index(rest, "<property>")) > 0) {
        kept = kept substr(rest, 1, start - 1)
        rest = substr(rest, start)
        if (!(stop = index(rest, "</property>"))) exit 4
        block = substr(rest, 1, stop + 10)
        rest = substr(rest, stop + 11)
        if (inside(block, "name") == key) {
          if (inside(block, "value") == value) exit 3
          sub(/[ \t]*$/, "", kept)
          sub(/^[ \t\r]*\n/, "", rest)
        } else {
          kept = kept block
        }
      }
      if (!(stop = index(rest, "</configuration>"))) exit 4
      printf "%s%s", kept, substr(rest, 1, stop - 1)
      printf "  <property>\n    <name>%s</name>\n    <value>%s</value>\n  </property>\n", key, value
      printf "%s", substr(rest, stop)
    }' "$core_site" >"$changed" || status=$?
  case $status in
    0)
      [ -e "$core_site.before-s3e" ] || cp -p "$core_site" "$core_site.before-s3e"
      # Into the file that is there: its owner and its rights stay.
      cat "$changed" >"$core_site"
      rm -f "$changed"
      echo "$1 = $2"
      ;;
    3) rm -f "$changed" ;;
    *)
      rm -f "$changed"
      refuse "$core_site is not what Hadoop writes: <configuration> with <property>s"
      ;;
  esac
}

# Appends the jar to a class path of spark-defaults.conf, whose other entries stay.
append_to() {
  local key=$1 line
  line=$(grep -E "^[[:space:]]*$key([[:space:]]|=)" "$spark_defaults" | tail -n 1 || true)
  case $line in
    *"$installed"*) return ;;
  esac
  [ -e "$spark_defaults.before-s3e" ] || cp -p "$spark_defaults" "$spark_defaults.before-s3e"
  if [ -z "$line" ]; then
    printf '%s %s\n' "$key" "$installed" >>"$spark_defaults"
  else
    # The last of several lines counts.
    printf '%s:%s\n' "$(printf '%s' "$line" | sed 's/[[:space:]:]*$//')" "$installed" >>"$spark_defaults"
  fi
  echo "$key ends with $installed"
}

install_s3e() {
  await_installation
  check_hadoop
  check_java
  mkdir -p "$home/lib"
  ln -sfn "$installed" "$home/lib/s3e-hadoop-bundle.jar"
  if [ ${#schemes[@]} != 1 ] && grep -q 'EmrFileSystem' "$core_site"; then
    echo "s3:// was EMRFS's and is S3A's now: roles, encryption and committers of EMRFS do not apply; --only-s3a leaves it"
  fi
  for scheme in "${schemes[@]}"; do
    set_property "fs.$scheme.impl" $file_system
    set_property "fs.AbstractFileSystem.$scheme.impl" $abstract_file_system
  done
  if [ -f "$spark_defaults" ]; then
    # A file whose last line has no end would join it with ours.
    [ -z "$(tail -c 1 "$spark_defaults")" ] || echo >>"$spark_defaults"
    append_to spark.driver.extraClassPath
    append_to spark.executor.extraClassPath
  else
    echo "there is no $spark_defaults: Spark is left alone"
  fi
  echo "S3E is installed; look at it: hadoop jar $installed"
}

fetch
if $after_install; then
  # The jar is in place, and this script may be gone by then: hence the copy.
  cp "$0" "$root$place/bootstrap.sh"
  mkdir -p "$(dirname "$log")"
  : >"$log"
  options+=(--wait 1800)
  if [ -n "$root" ]; then
    options+=(--root "$root")
  fi
  nohup bash "$root$place/bootstrap.sh" "${options[@]}" "$root$installed" >"$log" 2>&1 </dev/null &
  echo "S3E waits for Hadoop; the outcome will be in $log"
else
  install_s3e
fi
