#!/bin/sh
# Copies the sources of a published crate into a directory: fetch-crate.sh NAME VERSION DIR
#
# Crates carry the C sources of many well-known libraries, which the tests build. Only cargo is
# used for this, so the crate comes from wherever cargo is configured to look. If DIR is there,
# nothing is done.
set -eu

[ $# -eq 3 ] || { echo "usage: fetch-crate.sh NAME VERSION DIR" >&2; exit 2; }
name=$1 version=$2 dir=$3
[ ! -d "$dir" ] || exit 0

mkdir -p "$(dirname "$dir")"
scratch=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/src"
: > "$scratch/src/lib.rs"
cat > "$scratch/Cargo.toml" <<EOF
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"

[dependencies]
$name = "=$version"

[workspace]
EOF
cargo vendor --quiet --versioned-dirs --manifest-path "$scratch/Cargo.toml" "$scratch/vendor" > "$scratch/config"
# Another process may have been quicker, which is as good.
mv -T "$scratch/vendor/$name-$version" "$dir" 2> "$scratch/error" || [ -d "$dir" ] || { cat "$scratch/error" >&2; exit 1; }
