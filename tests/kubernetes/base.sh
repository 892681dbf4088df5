#!/bin/sh
# What the image is built upon where no registry of images is reached: Debian with Python, from Debian's packages, and
# with this machine's own certificates and settings of pip. Usage: base.sh FILE.tar, as root.
set -eu
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
mmdebstrap --quiet --variant=minbase --include=python3,python3-pip,python-is-python3,ca-certificates bookworm "$folder"
if cp /usr/local/share/ca-certificates/*.crt "$folder/usr/local/share/ca-certificates/" 2>/dev/null; then
    chroot "$folder" update-ca-certificates >/dev/null
fi
if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$folder/etc/"; fi
# In an image pip is the only one that installs Python's packages, as in Python's own images.
rm "$folder"/usr/lib/python3*/EXTERNALLY-MANAGED
tar --create --file "$1" --directory "$folder" .
