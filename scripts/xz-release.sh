#!/bin/sh
# A release of xz with its configure script and test-suite: xz-release.sh CRATE-VERSION DIR
#
# The crate lzma-sys carries the sources as they are in the repository of xz. What a release has
# besides is made here by autotools; the translations, which need gettext, are left out. If DIR is
# there, nothing is done.
set -eu

[ $# -eq 2 ] || { echo "usage: xz-release.sh CRATE-VERSION DIR" >&2; exit 2; }
version=$1 dir=$2
[ ! -d "$dir" ] || exit 0

here=$(dirname "$0")
mkdir -p "$(dirname "$dir")"
scratch=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$here/fetch-crate.sh" lzma-sys "$version" "$scratch/crate"
cd "$scratch/crate/xz-5.2"
sed -i -e '/AM_GNU_GETTEXT/d' -e '/po\/Makefile.in/d' configure.ac
sed -i -e 's/src po tests/src tests/' Makefile.am
touch ABOUT-NLS
{
    libtoolize -c -f
    aclocal -I m4
    autoconf
    autoheader
    automake -acf --foreign
} > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
rm -rf autom4te.cache
mv "$scratch/crate/xz-5.2" "$dir"
