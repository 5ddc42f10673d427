package list

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext" // reads values without decoding them
)

// The formats of JSON. All but wholeJSON have one object per line, such as a census.
var (
	ndjson = Format{Name: "NDJSON", Sniff: sniffNDJSON, Read: readNDJSON}

	// httpx asks web servers: its addresses are hosts, and its ports are theirs.
	httpx = Format{Name: "httpx JSON", Read: readNDJSON, note: "its ports are web servers: only its hosts are asked, at --port or 27015", Sniff: func(head []byte) bool {
		var o object
		return sniffNDJSON(head) && o.parse(firstLine(head)) == nil && o.isHTTPX()
	}}

	// masscan writes an array, but each object on its own line.
	masscanJSON = Format{Name: "masscan JSON", Read: readNDJSON, Sniff: func(head []byte) bool {
		rest, isArray := bytes.CutPrefix(trimHead(head), []byte("["))
		first := firstLine(rest)
		return isArray && len(first) > 0 && first[0] == '{' && bytes.Contains(first, []byte(`"ports"`)) && len(firstLine(head)) == 1
	}}

	// wholeJSON is other JSON, which is not read.
	wholeJSON = Format{Name: "JSON", Sniff: sniffJSON, Read: func(_ io.Reader, yield func(Entry) bool) error {
		yield(Entry{Line: 1, Text: []byte("["), Fault: faultArray})
		return nil
	}}
)

func trimHead(head []byte) []byte { return bytes.TrimSpace(bytes.TrimPrefix(head, utf8BOM)) }

// sniffNDJSON reports whether the first line is an object. If head does not contain
// the whole line, its first character decides.
func sniffNDJSON(head []byte) bool {
	first := firstLine(head)
	return len(first) > 1 && first[0] == '{' && (first[len(first)-1] == '}' || bytes.IndexByte(head, '\n') < 0)
}

// sniffJSON reports whether a list is an array, or an object of several lines. The
// answers of master servers, which Config.Formats may have, are not meant.
func sniffJSON(head []byte) bool {
	head = trimHead(head)
	if len(head) == 0 || head[0] != '[' && head[0] != '{' {
		return false
	}
	inside := bytes.TrimSpace(head[1:])
	isAnswer := bytes.Contains(head, []byte(`"addr"`)) || bytes.Contains(head, []byte(`"response"`))
	return len(inside) > 0 && strings.IndexByte(`{["`, inside[0]) >= 0 && !isAnswer && !sniffNDJSON(head)
}

// maxJSONLine is the maximum length of a line of JSON. A record of a census has at most
// 8 MiB.
const maxJSONLine = 9 << 20

func readNDJSON(r io.Reader, yield func(Entry) bool) (err error) {
	var o object
	for line := range eachLine(r, maxJSONLine, &err) {
		// masscan's array has lines of brackets and commas around its objects, and in old
		// versions an object at its end that is no JSON.
		text := bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(line.text), ","))
		isEmpty := len(text) == 0 || text[0] == '#' || string(text) == "[" || string(text) == "]" || string(text) == "{finished: 1}"
		if isEmpty && line.fault != faultTruncated {
			continue
		}
		fault := line.fault
		if fault != faultLong {
			bad := o.parse(text)
			switch {
			case o.schema != "":
				return fmt.Errorf("line %d is a record of schema %s, and this version of a2sscan knows schema %s",
					line.number, o.schema, recordSchema)
			case bad == nil && !o.entries(line.number, text, yield):
				return nil
			case bad != nil && line.last:
				fault = faultTruncated
			case bad != nil && (bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity"))):
				fault = faultNaN
			case bad != nil:
				fault = faultJSON
			case fault != "": // the record is whole, but its line has no end
				line.number++
				text = nil
			}
		}
		if fault != "" && !yield(Entry{Line: line.number, Text: text, Fault: fault}) {
			return nil
		}
	}
	return err
}

// recordSchema is the schema of census records that readNDJSON supports.
const recordSchema = "1"

// object holds the values of a JSON object that matter here: strings without their
// quotes, and other values as they are written.
type object struct {
	dec    *jsontext.Decoder
	values map[string]string
	schema string // of a census record, if it is not recordSchema
	stray  bool   // a number in it may be the port
}

// parse reads an object.
func (o *object) parse(text []byte) error {
	if o.dec == nil {
		o.dec, o.values = new(jsontext.Decoder), map[string]string{}
	}
	clear(o.values)
	o.schema, o.stray = "", false
	o.dec.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := o.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return faultJSON
	}
	for first := true; o.dec.PeekKind() == '"'; first = false {
		t, err := o.dec.ReadToken()
		if err != nil {
			return err
		}
		key := t.String()
		value, err := o.dec.ReadValue()
		if err != nil {
			return err
		}
		if first && key == "schema" && value.Kind() == '0' && len(value) < 10 && string(value) != recordSchema {
			o.schema = string(value)
		}
		o.set(key, value)
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := o.dec.ReadToken(); err != io.EOF {
		return faultJSON
	}
	return nil
}

// set stores a value if its key matters here.
func (o *object) set(key string, value jsontext.Value) {
	switch key {
	case "ip":
		if value.Kind() != '"' {
			return // Shodan's number; ip_str is the text
		}
	case "ip_str", "saddr", "addr", "address", "endpoint", "host", "host_ip", "a", "resolved",
		"query_port", "port", "sport", "ports", "transport", "protocol", "proto", "status",
		"classification", "success", "tag", "tag_hex", "master", "servers", "data", "url", "input":
	default:
		o.stray = o.stray || value.Kind() == '0' && strings.HasSuffix(strings.ToLower(key), "port")
		return
	}
	if _, known := o.values[key]; !known && value.Kind() != 'n' {
		o.values[key] = plain(value)
	}
}

// plain returns the contents of a string, and other values as they are.
func plain(value jsontext.Value) string {
	if value.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, value); err == nil || len(text) > 0 {
			return string(text)
		}
	}
	return string(value)
}

// first returns the first value that is not empty.
func (o *object) first(keys ...string) string {
	for _, key := range keys {
		if v := o.values[key]; v != "" {
			return v
		}
	}
	return ""
}

func (o *object) isHTTPX() bool { return o.values["url"] != "" && o.values["input"] != "" }

// entries yields the targets of the object. It reports whether to continue.
func (o *object) entries(line int, text []byte, yield func(Entry) bool) bool {
	for _, key := range []string{"servers", "data"} { // of xash3d-query, and of Shodan's hosts
		if list := o.values[key]; strings.HasPrefix(list, "[") {
			return eachElement(list, func(v jsontext.Value) bool {
				var inner object
				switch err := inner.parse(v); {
				case v.Kind() == '"':
					return yield(Entry{Line: line, Text: []byte(plain(v))})
				case err != nil:
					return yield(Entry{Line: line, Text: v, Fault: faultJSON})
				}
				return inner.entries(line, v, yield)
			})
		}
	}
	e := Entry{Line: line, Text: text, Tag: []byte(o.values["tag"]), stray: o.stray}
	if exact, err := hex.DecodeString(o.values["tag_hex"]); err == nil && len(exact) > 0 {
		e.Tag = exact
	}
	if master := o.values["master"]; strings.HasPrefix(master, "{") {
		e.Master = []byte(master)
	}
	addr, port := o.first("ip_str", "ip", "saddr", "addr", "resolved", "address", "endpoint", "host"), o.first("query_port", "port", "sport")
	switch {
	case o.isHTTPX():
		addr, port, e.stray = o.host(), "", false
	case notUDP(o.first("transport", "protocol", "proto")) || o.values["saddr"] != "" && noAnswer(o.values["classification"], o.values["success"]):
		e.skip = true
	}
	if addr == "" && !e.skip {
		e.Fault = faultNoAddress
	}
	if ports := o.values["ports"]; port == "" && strings.HasPrefix(ports, "[") && addr != "" {
		return eachElement(ports, func(v jsontext.Value) bool {
			e, port := e, string(v)
			var one object
			if one.parse(v) == nil {
				port = one.values["port"]
				e.skip = e.skip || notUDP(one.values["proto"]) || !isOpen(one.values["status"])
			}
			e.Text = joinPort(addr, port)
			return yield(e)
		})
	}
	if addr != "" {
		e.Text = joinPort(addr, port)
	}
	return yield(e)
}

// host returns the address of a host that httpx found.
func (o *object) host() (host string) {
	if host = o.values["host_ip"]; host != "" {
		return host
	}
	host = o.values["host"]
	if _, f := parse([]byte(host)); f == "" {
		return host
	}
	eachElement(o.values["a"], func(v jsontext.Value) bool {
		host = plain(v)
		return false
	})
	return host
}

// eachElement calls do for the elements of an array, until it returns false.
func eachElement(array string, do func(jsontext.Value) bool) bool {
	d := jsontext.NewDecoder(strings.NewReader(array), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return true
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil || !do(v.Clone()) {
			return err != nil
		}
	}
	return true
}

// notUDP reports whether a row is about another protocol. A row without a protocol
// counts as UDP, and so does one with a word that means something else.
func notUDP(protocol string) bool {
	switch strings.ToLower(protocol) {
	case "tcp", "sctp", "icmp":
		return true
	}
	return false
}

// isOpen reports whether a port may be open. An open UDP port that does not answer is
// "open|filtered" for nmap.
func isOpen(state string) bool { return state == "" || state == "open" || state == "open|filtered" }

// noAnswer reports whether ZMap got no UDP reply.
func noAnswer(classification, success string) bool {
	return classification != "" && classification != "udp" || success == "0" || success == "false"
}

// joinPort joins an address and a port as in a line of text. If the address already
// has a port, or port is empty, it returns the address unchanged.
func joinPort(addr, port string) []byte {
	ip := []byte(addr)
	_, rest, f := parseIP(ip)
	if port == "" || f == "" && len(rest) > 0 || f != "" && strings.Contains(addr, ":") { // a port, or IPv6
		return ip
	}
	return append(append(ip, ':'), port...)
}
