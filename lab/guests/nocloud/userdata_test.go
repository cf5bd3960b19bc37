package nocloud_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/util/certs"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/nocloud"
)

func meta(t testing.TB) *nocloud.MetaData {
	t.Helper()
	m, err := nocloud.DecodeMetaData([]byte("instance-id: 5f0c\nlocal-hostname: shop-a\nkubernetes-version: v1.36.3\nfailure-zone: pve1\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDecodeUserData(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	file := func(encoding, content string) string {
		return fmt.Sprintf("#cloud-config\nwrite_files:\n- path: /f\n  encoding: %q\n  content: %q\n", encoding, content)
	}
	cases := map[string]struct {
		data     string
		files    map[string]string
		commands []string
		err      string
	}{
		"files and commands": {
			data:  "#cloud-config\nwrite_files:\n- path: /a/../b\n  content: |\n    one\n    two\nruncmd:\n- echo 'a' && true\n- [sh, -c, x]\n",
			files: map[string]string{"/b": "one\ntwo\n"}, commands: []string{"echo 'a' && true", "sh -c x"},
		},
		"base64":                  {data: file("base64", b64("hello")), files: map[string]string{"/f": "hello"}},
		"base64, short name":      {data: file("b64", b64("hello")), files: map[string]string{"/f": "hello"}},
		"gzip in base64":          {data: file("gz+b64", b64(packed(t, "hello"))), files: map[string]string{"/f": "hello"}},
		"plain text":              {data: file("text/plain", "hello"), files: map[string]string{"/f": "hello"}},
		"damaged base64":          {data: file("b64", "?"), err: "write_files[0] /f"},
		"damaged gzip":            {data: file("gzip+base64", b64("hello")), err: "write_files[0] /f"},
		"an unknown encoding":     {data: file("rot13", "uryyb"), err: `encoding "rot13" is not known`},
		"a later file appends":    {data: "#cloud-config\nwrite_files:\n- {path: /f, content: a}\n- {path: /f, content: b, append: true}\n", files: map[string]string{"/f": "ab"}},
		"a later file replaces":   {data: "#cloud-config\nwrite_files:\n- {path: /f, content: a}\n- {path: /f, content: b}\n", files: map[string]string{"/f": "b"}},
		"a relative path":         {data: "#cloud-config\nwrite_files:\n- {path: f, content: a}\n", err: "path is not absolute"},
		"a command of other kind": {data: "#cloud-config\nruncmd:\n- {a: b}\n", err: "runcmd[0]"},
		"no header":               {data: "runcmd: []\n", err: "not a cloud-config"},
		"a shell script":          {data: "#!/bin/sh\ntrue\n", err: "not a cloud-config"},
		"broken YAML":             {data: "#cloud-config\nruncmd: [\n", err: "decode user-data"},
		"a template is rendered":  {data: "## template: jinja\n#cloud-config\nruncmd: ['a {{ ds.meta_data.instance_id }}']\n", commands: []string{"a 5f0c"}},
		"braces without a template stay": {
			data: "#cloud-config\nruncmd: ['a {{ ds.meta_data.instance_id }}']\n", commands: []string{"a {{ ds.meta_data.instance_id }}"},
		},
		"empty": {data: "#cloud-config\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := nocloud.DecodeUserData([]byte(c.data), meta(t))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if c.err != "" {
				return
			}
			var commands []string
			for _, command := range got.Commands {
				commands = append(commands, command.Line)
			}
			if diff := cmp.Diff(c.commands, commands); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.files, contents(got.Files)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func contents(files nocloud.Files) map[string]string {
	var found map[string]string
	for name, file := range files {
		if found == nil {
			found = map[string]string{}
		}
		found[name] = string(file.Content)
	}
	return found
}

// readable puts words in the place of keys and certificates, which are new each time.
func readable(c *bootstrapdata.Cluster) {
	for _, certificate := range c.Certificates {
		certificate.KeyPair = &certs.KeyPair{
			Cert: []byte("certificate " + path.Base(certificate.CertFile)), Key: []byte("key " + path.Base(certificate.KeyFile)),
		}
	}
}

// The files in testdata are what Cluster API's bootstrap provider writes; UPDATE_GOLDEN=1 writes them anew.
func TestDecodeWhatClusterAPIWrites(t *testing.T) {
	shop, err := bootstrapdata.NewCluster("shop", "127.10.40.10:6443", "v1.36.3", "ECDSA-P256")
	if err != nil {
		t.Fatal(err)
	}
	worker, err := shop.JoinWorker("abcdef.0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	readable(shop)
	first, err := shop.Init()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		data    []byte
		files   []string
		command string
	}{
		"init.yaml": {
			data:    first,
			files:   []string{"/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/ca.key", "/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/sa.pub", "/run/kubeadm/kubeadm.yaml"},
			command: "kubeadm init --config /run/kubeadm/kubeadm.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
		},
		"worker.yaml": {
			data:    worker,
			files:   []string{"/run/kubeadm/kubeadm-join-config.yaml", "/etc/kubernetes/prepare.sh"},
			command: "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := nocloud.DecodeUserData(golden(t, name, c.data), meta(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range c.files {
				if content, err := got.Files.Read(name); err != nil || len(content) == 0 {
					t.Errorf("file %s: %d bytes, error %v", name, len(content), err)
				}
			}
			if last := got.Commands[len(got.Commands)-1].Line; last != c.command {
				t.Errorf("last command %q, want %q", last, c.command)
			}
			if config := string(got.Files["/run/kubeadm/kubeadm.yaml"].Content) + string(got.Files["/run/kubeadm/kubeadm-join-config.yaml"].Content); !strings.Contains(config, "proxmox://5f0c") || !strings.Contains(config, "name: 'shop-a'") {
				t.Errorf("the template was not rendered:\n%s", config)
			}
		})
	}
}

// golden returns a file of testdata. Worker data has the hash of a CA in it, so only its lines are compared.
func golden(t *testing.T, name string, written []byte) []byte {
	t.Helper()
	file := path.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	withoutHash := func(data []byte) []string {
		var lines []string
		for _, line := range strings.Split(string(data), "\n") {
			if !strings.Contains(line, "sha256:") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if diff := cmp.Diff(withoutHash(stored), withoutHash(written)); diff != "" {
		t.Errorf("Cluster API writes something else by now:\n%s", diff)
	}
	return stored
}

func FuzzDecodeUserData(f *testing.F) {
	for _, name := range []string{"init.yaml", "worker.yaml"} {
		data, err := os.ReadFile(path.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("#cloud-config\na: &a [x,x]\nb: &b [*a,*a]\nruncmd: [*b,*b]\n"))
	f.Add([]byte("## template: jinja\n#cloud-config\n{% raw %}{{ x }}{% endraw %}{# c #}{{ 'q' }}"))
	m := meta(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := nocloud.DecodeUserData(data, m)
		if (config == nil) == (err == nil) {
			t.Fatalf("config %v and error %v", config, err)
		}
		if err != nil {
			return
		}
		for name := range config.Files {
			if !path.IsAbs(name) || name != path.Clean(name) {
				t.Errorf("file %q is not an absolute, clean path", name)
			}
		}
	})
}
