"""The plugins of the descheduler, one file or package each; the table is in ``podium.descheduler.table``."""
