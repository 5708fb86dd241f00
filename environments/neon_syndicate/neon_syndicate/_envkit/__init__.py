# Generated from envkit/__init__.py by scripts/vendor.py: edit there.
