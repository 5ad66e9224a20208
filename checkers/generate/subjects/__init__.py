"""Kinds of objects, one file each: answers, and wrong answers for invalid histories."""
