"""Operators' work on a chat's data: retention, erasure, export, checks and repairs. The rules live
here, the queries in `store/maintenance`, the commands in `admin`."""
