"""The committed log as first seen on any node; the image and registrations that follow from it."""
