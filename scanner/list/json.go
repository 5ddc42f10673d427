package list

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext" // reads values without decoding them
)

// The JSON formats. All but jsonArray have one object per line, as a census does.
var (
	ndjson = Format{Name: "NDJSON", Sniff: sniffNDJSON, Read: readNDJSON}

	// httpx lists web servers. Only their hosts are used, not their ports.
	httpx = Format{Name: "httpx JSON", Read: readNDJSON, note: "the ports in this list belong to web servers, so only the hosts are queried, at the ports from --port, or at port 27015", Sniff: func(head []byte) bool {
		var o object
		return sniffNDJSON(head) && o.parse(firstLine(head)) == nil && o.isHTTPX()
	}}

	// masscan writes an array with each object on its own line.
	masscanJSON = Format{Name: "masscan JSON", Sniff: isMasscan.Match, Read: readNDJSON}

	// jsonArray is an array, or an object of several lines. Such a list is invalid.
	// Config.Formats are tried before this format; they may read an array, such as an
	// answer of a master server.
	jsonArray = refused("JSON", func(head []byte) bool { return isArray.Match(head) && !sniffNDJSON(head) }, "[", faultArray)
)

var (
	isMasscan = regexp.MustCompile(`^(\x{FEFF})?\s*\[[ \t\r]*\n\s*\{.*"ports"`)
	isArray   = regexp.MustCompile(`^(\x{FEFF})?\s*[[{]\s*["[{]`)
)

// sniffNDJSON reports whether the first line is an object. If head does not contain the
// entire line, the line's first character decides.
func sniffNDJSON(head []byte) bool {
	first := firstLine(head)
	cut := bytes.IndexByte(head[bytes.Index(head, first):], '\n') < 0
	return len(first) > 1 && first[0] == '{' && (first[len(first)-1] == '}' || cut)
}

// maxJSONLine is the maximum length of a line of JSON. A record of a census has at most
// 8 MiB.
const maxJSONLine = 9 << 20

func readNDJSON(r io.Reader, yield func(Entry) bool) (err error) {
	var o object
	for line := range eachLine(r, maxJSONLine, &err) {
		// The array of masscan has lines of brackets and commas around its objects. In old
		// versions, it ends with an object that is not valid JSON.
		text := bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(line.text), ","))
		isEmpty := isComment(text) || string(text) == "[" || string(text) == "]" || string(text) == "{finished: 1}"
		if isEmpty && line.fault != faultTruncated && line.fault != faultLineEnds {
			continue
		}
		fault := line.fault
		if fault != faultLong {
			bad := o.parse(text)
			switch {
			case o.schema != "":
				return fmt.Errorf("line %d is a record of schema %s, but this version of a2sscan knows only schema %s",
					line.number, o.schema, recordSchema)
			case bad == nil && !o.entries(line.number, text, yield):
				return nil
			case fault == faultLineEnds && bad == nil:
				fault = ""
			case fault == faultLineEnds:
			case bad != nil && line.last:
				fault = faultTruncated
			case bad != nil:
				fault = faultJSON
			case fault != "": // the list was cut off after a complete record
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

// namesPort matches a value that may contain the key of a port. The key may have \u
// escapes.
var namesPort = regexp.MustCompile(`(?i)port|\\u00`)

const recordSchema = "1"

// parse reads an object. BattleMetrics has {"attributes": {"ip": …}}, and DZSA
// {"endpoint": {"ip": …}}: the members of these inner objects count as members of the object
// itself.
func (o *object) parse(text []byte) error {
	if err := o.read(text); err != nil {
		return err
	}
	o.merge(o.inside("attributes"))
	if end := o.inside("endpoint"); end != nil {
		if port := end.values["port"]; end.values["queryport"] == "" && port != "" {
			end.values["queryport"], end.values["port"] = port, ""
		}
		o.merge(end)
	}
	return nil
}

func (o *object) read(text []byte) error {
	o.clear()
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
		kind := value.Kind()
		if first && key == "schema" && kind == '0' && len(value) < 10 {
			if o.census = string(value) == recordSchema; !o.census {
				o.schema = string(value)
			}
		}
		m, composed := o.member(key), kind == '{' || kind == '['
		o.nested = o.nested || composed && !o.census && (m.nestedPort() != notPort || namesPort.Match(value))
		switch {
		case kind == 'n':
			o.noPort = o.noPort || m.port == queryPort || m.port == plainPort
		case m.name == "ip" && kind != '"': // Shodan's ip is a number; its ip_str is the text
		case !composed:
			o.put(m, plain(value))
		case isMember[m.name]:
			o.put(m, string(value))
		}
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := o.dec.ReadToken(); err != io.EOF {
		return faultJSON
	}
	return nil
}

// plain returns a string without its quotes, and any other value as written.
func plain(value []byte) string {
	if value[0] == '"' {
		if text, err := jsontext.AppendUnquote(nil, value); err == nil || len(text) > 0 {
			return string(text)
		}
	}
	return string(value)
}

func elements(value string) (all []json.RawMessage) {
	if strings.HasPrefix(value, "[") {
		json.Unmarshal([]byte(value), &all) // value is valid JSON: parse has read it
	}
	return all
}
