"""The track record: known bugs of released systems, found by Kraftproof's ordinary checks.

A row is a TOML file: a version with the bug, a control version without it, a run, and the check
that finds the bug. A row counts when the check finds the bug on the one version, and nothing on the
control. rows.py reads the files, record.py does the runs, page.py writes docs/track_record.md.
"""
