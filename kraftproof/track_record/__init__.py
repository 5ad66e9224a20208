"""The track record: known bugs of released systems, found by Kraftproof's ordinary checks.

A row is a TOML file: a version with the bug, a control version without the bug, a run, and a check.
A row counts when the check has a finding on the version, and no finding on the control. rows.py
reads the files, record.py does the runs, page.py writes docs/track_record.md.
"""
