package main

import (
	"os"
	"path/filepath"
	"strings"
)

// policyFile is the policy of one scenario on disk, where the loader wants it.
type policyFile struct {
	folder, file string
}

func writePolicy(text string) (policyFile, error) {
	folder, err := os.MkdirTemp("", "podium-oracle-")
	if err != nil {
		return policyFile{}, err
	}
	file := filepath.Join(folder, "policy.yaml")
	return policyFile{folder, file}, os.WriteFile(file, []byte(text), 0o600)
}

// anonymous takes the temporary folder out of a message.
func (p policyFile) anonymous(text string) string {
	return strings.ReplaceAll(text, p.file, "policy.yaml")
}
