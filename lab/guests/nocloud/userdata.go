package nocloud

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"
)

// CloudConfig is the part of a cloud-config that the simulated machine acts on.
type CloudConfig struct {
	// Files is the tree that write_files leaves behind.
	Files Files
	// Commands are the lines of runcmd in their order.
	Commands []Command
}

// Command is one entry of runcmd.
type Command struct {
	// Line is a line for the shell; an entry given as a list is joined by spaces.
	Line string
}

// Files is a tree in memory, by absolute path.
type Files map[string]File

// File is one file of the tree.
type File struct {
	Content     []byte
	Owner       string // as written, for example root:root
	Permissions string // octal, as written
}

// Read returns a file's content.
func (f Files) Read(name string) ([]byte, error) {
	file, ok := f[path.Clean(name)]
	if !ok {
		return nil, fmt.Errorf("open %s: no such file", name)
	}
	return file.Content, nil
}

// Write puts a file in place of whatever was there.
func (f Files) Write(name string, content []byte) {
	f[path.Clean(name)] = File{Content: content, Owner: "root:root", Permissions: "0644"}
}

// cloudConfig is the wire form. Upstream: https://cloudinit.readthedocs.io/en/latest/reference/modules.html
type cloudConfig struct {
	WriteFiles []writeFile       `json:"write_files"`
	RunCmd     []json.RawMessage `json:"runcmd"`
}

type writeFile struct {
	Path        string `json:"path"`
	Content     string `json:"content"`
	Encoding    string `json:"encoding"`
	Owner       string `json:"owner"`
	Permissions any    `json:"permissions"`
	Append      bool   `json:"append"`
}

// DecodeUserData renders user-data with the instance's meta-data and reads the cloud-config in it.
func DecodeUserData(data []byte, meta *MetaData) (*CloudConfig, error) {
	text, err := render(string(data), meta.variables())
	if err != nil {
		return nil, err
	}
	if !isCloudConfig(text) {
		return nil, errors.New("decode user-data: not a cloud-config: the line #cloud-config is missing")
	}
	var wire cloudConfig
	if err := yaml.Unmarshal([]byte(text), &wire); err != nil {
		return nil, fmt.Errorf("decode user-data: %w", err)
	}
	config := &CloudConfig{Files: Files{}}
	for i, f := range wire.WriteFiles {
		if err := config.Files.add(f); err != nil {
			return nil, fmt.Errorf("decode user-data: write_files[%d] %s: %w", i, f.Path, err)
		}
	}
	for i, raw := range wire.RunCmd {
		command, err := decodeCommand(raw)
		if err != nil {
			return nil, fmt.Errorf("decode user-data: runcmd[%d]: %w", i, err)
		}
		config.Commands = append(config.Commands, command)
	}
	return config, nil
}

func isCloudConfig(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	return strings.TrimRight(first, " \t\r") == "#cloud-config"
}

func (f Files) add(w writeFile) error {
	if !path.IsAbs(w.Path) {
		return errors.New("path is not absolute")
	}
	content, err := decodeContent(w.Content, w.Encoding)
	if err != nil {
		return err
	}
	name := path.Clean(w.Path)
	if w.Append {
		content = append(append([]byte{}, f[name].Content...), content...)
	}
	file := File{Content: content, Owner: w.Owner, Permissions: "0644"}
	if w.Permissions != nil {
		file.Permissions = fmt.Sprint(w.Permissions)
	}
	f[name] = file
	return nil
}

// decodeContent knows the encodings of write_files. Upstream: cloud-init, cloudinit/config/cc_write_files.py
func decodeContent(content, encoding string) ([]byte, error) {
	switch strings.ToLower(encoding) {
	case "", "text/plain":
		return []byte(content), nil
	case "b64", "base64":
		return unbase64(content)
	case "gz", "gzip":
		return gunzip([]byte(content))
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		packed, err := unbase64(content)
		if err != nil {
			return nil, err
		}
		return gunzip(packed)
	}
	return nil, fmt.Errorf("encoding %q is not known", encoding)
}

func unbase64(content string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
}

func decodeCommand(raw json.RawMessage) (Command, error) {
	var line string
	if json.Unmarshal(raw, &line) == nil {
		return Command{Line: line}, nil
	}
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return Command{}, errors.New("neither a string nor a list of strings")
	}
	return Command{Line: strings.Join(words, " ")}, nil
}
