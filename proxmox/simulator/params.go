package simulator

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

func isMultipart(r *http.Request) bool {
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return t == "multipart/form-data"
}

// readParams collects the parameters of body, query and path. A parameter of the path may be given again with the same
// value only.
func readParams(c *core.Call, r *http.Request) error {
	params := map[string]any{}
	if (c.Method == "POST" || c.Method == "PUT") && !isMultipart(r) {
		body, err := bodyParams(r)
		if err != nil {
			return err
		}
		params = body
	}
	query, err := formParams(r.URL.RawQuery)
	if err != nil {
		return err
	}
	maps.Copy(params, query)
	delete(params, "_dc")
	errs := schema.Errors{}
	for name, value := range c.URI {
		if given, twice := params[name]; twice && schema.Text(given) != value {
			errs[name] = schema.Duplicate
		}
		params[name] = value
	}
	c.Params = params
	if len(errs) > 0 {
		return core.InvalidAll(errs)
	}
	return nil
}

func bodyParams(r *http.Request) (map[string]any, error) {
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, core.Fail("read body: %v", err)
	}
	switch t {
	case "", "application/x-www-form-urlencoded":
		return formParams(string(data))
	case "application/json":
		return jsonParams(data)
	}
	if len(data) == 0 {
		return map[string]any{}, nil
	}
	return nil, &core.BareError{APIError: &core.APIError{Status: 506, Message: "upload 'Content-Type '" + r.Header.Get("Content-Type") + "' not implemented"}}
}

// formParams decodes key=value pairs; a key that comes again makes an array.
func formParams(text string) (map[string]any, error) {
	params := map[string]any{}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == '&' || r == ';' }) {
		k, v, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(k)
		if err != nil {
			return nil, &core.APIError{Status: 400, Message: "bad request"}
		}
		value, err := url.QueryUnescape(v)
		if err != nil {
			return nil, &core.APIError{Status: 400, Message: "bad request"}
		}
		switch old := params[key].(type) {
		case nil:
			params[key] = value
		case []any:
			params[key] = append(old, value)
		default:
			params[key] = []any{old, value}
		}
	}
	return params, nil
}

func jsonParams(data []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, core.Fail("malformed JSON string: %v", err)
	}
	if v == nil {
		return map[string]any{}, nil // clients write null where they have nothing to say
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, core.Fail("expected a JSON object")
	}
	for name, value := range object {
		if value == nil {
			delete(object, name)
		}
	}
	return object, nil
}

// readFile reads a multipart body: fields first, then the part named filename with the file.
func readFile(c *core.Call, r *http.Request) error {
	_, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !isMultipart(r) {
		return core.Fail("no multipart boundary")
	}
	parts := multipart.NewReader(r.Body, attributes["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return core.Fail("read upload: %v", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return core.Fail("read upload: %v", err)
		}
		if part.FormName() != "filename" {
			if err := field(c, part.FormName(), string(data)); err != nil {
				return err
			}
			continue
		}
		c.Params["filename"] = part.FileName()
		c.File = &core.Uploaded{Name: part.FileName(), Data: data}
	}
}

// field takes a field of a multipart body. Proxmox VE's parser trips over a checksum that stands before its algorithm:
// the error text then holds a line break, which the status line cannot carry.
func field(c *core.Call, name, value string) error {
	if name == "checksum-algorithm" && c.Has("checksum") {
		return core.Fail("bad upload\r\n")
	}
	c.Params[name] = value
	return nil
}

// body limits: uploads may be larger.
const maxBody = 512 << 10
