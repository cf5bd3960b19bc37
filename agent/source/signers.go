package source

import (
	"fmt"
	"os"

	"kubehenge.dev/git"
)

// SignersFile gives Options.Signers from a file in OpenSSH's allowed_signers format.
func SignersFile(path string) func() (git.AllowedSigners, error) {
	return func() (git.AllowedSigners, error) {
		list, err := os.ReadFile(path)
		if err != nil {
			return git.AllowedSigners{}, fmt.Errorf("read %s: %w", path, err)
		}
		return git.ParseAllowedSigners(list)
	}
}
