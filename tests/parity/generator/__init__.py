"""Random clusters and pods for the parity suite; ../README.md is the schema of what it draws."""
