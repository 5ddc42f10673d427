package list

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object, or a row of a table whose columns have names. It holds the
// values that matter here: strings without their quotes, and other values as they are
// written.
type object struct {
	values map[string]string
	others []string // values of keys that name a port of unknown meaning
	joins  bool     // there is a port at which players join
	noPort bool     // the key of the port has no value
	nested bool     // a nested value may be the port
	rare   bool     // there is a key that most rows do not have
	at     string   // the jq filter that finds this object in its line; empty: the object is the line
	dec    jsontext.Decoder
	keys   map[string]member // the keys that were seen
	census bool              // the object is a census record of the schema recordSchema
	schema string            // schema of a census record, if it is another one
}

// entries yields the targets of the object, and reports whether to continue. The parameter
// text is the object as written.
func (o *object) entries(line int, text []byte, yield func(Entry) bool) bool {
	addr, query, port := o.first(addrKeys...), o.values["queryport"], o.values["port"]
	e := Entry{Line: line, Text: text, Tag: []byte(o.values["tag"]), skip: notUDP(o.first(protoKeys...)) || isClosed(o.first(stateKeys...))}
	if o.rare {
		if more, done := o.rows(line, addr, yield); done {
			return more
		}
		if end := o.inside(o.values["endpoint"]); end != nil { // DZSA has "endpoint": {"ip": …, "port": …}
			addr, query = cmp.Or(addr, end.first(addrKeys...)), cmp.Or(query, end.values["port"])
		}
		if exact, err := hex.DecodeString(o.values["taghex"]); err == nil && len(exact) > 0 {
			e.Tag = exact
		}
		if master := o.values["master"]; strings.HasPrefix(master, "{") {
			e.Master = []byte(master)
		}
		if o.values["saddr"] != "" { // ZMap: dport is the scanner's own port
			port = cmp.Or(port, o.values["sport"])
		} else {
			o.other(o.values["sport"])
			o.other(o.values["dport"])
		}
		e.skip = !o.isHTTPX() && (e.skip || o.skipped())
	}
	if e.skip {
		return yield(e)
	}
	if o.rare && o.isHTTPX() {
		e.Text = []byte(o.host())
		return yield(e)
	}
	if addr == "" {
		e.Fault = faultNoAddress
		if f := o.flatten(text, func(m member, value string) bool { return slices.Contains(addrKeys, m.name) && value != "" }); f != "" {
			e.Fault = f
		}
		return yield(e)
	}
	if query == "0" && port != "" {
		query = ""
	}
	if strings.ContainsAny(addr, " /") { // may be a steam://connect link
		addr = string(trimConnect([]byte(addr)))
	}
	host, own := splitPort(addr)
	asked := cmp.Or(query, own, port)
	for _, key := range []string{"ports", "services"} { // masscan, Censys
		if !o.rare {
			break
		}
		list := o.values[key]
		switch {
		case list == "":
		case asked != "":
			o.others = append(o.others, list)
		case list[0] == '[':
			return o.portList(e, addr, elements(list), yield)
		case list[0] != '{':
			asked = list
		}
	}
	if query != "" {
		addr = host
	}
	e.Text = joinPort(addr, asked)
	e.hostOnly = o.noPort
	if query == "" {
		e.beside = own != "" && port != "" && port != own
		o.doubt(&e, text, asked)
	}
	return yield(e)
}

// doubt looks for other ports that may be meant. It must be called only if no key names the
// query port. The parameter asked is the port that was chosen, or empty; text is the object
// as written.
func (o *object) doubt(e *Entry, text []byte, asked string) {
	var nested fault
	if o.nested {
		isPort := func(m member, value string) bool { return m.port != notPort && isNumber(value) && value != asked }
		nested = o.flatten(text, func(m member, value string) bool { return m.port == queryPort && isPort(m, value) })
		if nested == "" && asked == "" {
			nested = o.flatten(text, isPort)
		}
	}
	switch {
	case nested != "" && asked != "":
		e.Fault = nested
	case asked != "":
		e.beside = e.beside || slices.ContainsFunc(o.others, func(v string) bool { return v != asked })
	case nested != "":
		e.unclear = nested
	case o.joins || len(o.others) > 0:
		e.unclear = faultPortColumn
	}
}

// rows yields the targets of the rows inside the object. The result done reports whether
// there are such rows, and the result more reports whether to continue.
func (o *object) rows(line int, addr string, yield func(Entry) bool) (more, done bool) {
	// xash3d-query uses the key servers; Shodan's hosts and BattleMetrics use the key data;
	// DZSA uses the key result.
	for _, key := range []string{"servers", "data", "result"} {
		list := elements(o.values[key])
		if len(list) == 0 || addr != "" && list[0][0] != '{' {
			continue
		}
		inner := object{keys: o.keys}
		for _, v := range list {
			err := inner.parse(v)
			switch {
			case v[0] == '"':
				more = yield(Entry{Line: line, Text: []byte(plain(v))})
			case err != nil:
				more = yield(Entry{Line: line, Text: v, Fault: faultJSON})
			default:
				inner.at = o.within("." + key + "[]")
				more = inner.entries(line, v, yield)
			}
			if !more {
				break
			}
		}
		return more, true
	}
	if row := o.inside(o.values["attributes"]); addr == "" && row != nil { // BattleMetrics
		row.at = o.within(".attributes")
		return row.entries(line, []byte(o.values["attributes"]), yield), true
	}
	return true, false
}

func (o *object) inside(value string) *object {
	if !strings.HasPrefix(value, "{") {
		return nil
	}
	inner := &object{keys: o.keys}
	if inner.parse([]byte(value)) != nil {
		return nil
	}
	return inner
}

// skipped reports whether the object is about a closed port, or only repeats another
// object.
func (o *object) skipped() bool {
	reply, success := o.values["classification"], o.values["success"]
	if kind := o.values["rectype"]; kind == "banner" { // masscan -oD
		return true
	} else if data := o.inside(o.values["data"]); kind != "" && data != nil {
		return !isOpen(data.values["status"])
	}
	// These values mean that ZMap got no UDP reply.
	return o.values["saddr"] != "" && (reply != "" && reply != "udp" || success == "0" || success == "false")
}

func (o *object) portList(e Entry, addr string, ports []json.RawMessage, yield func(Entry) bool) bool {
	if len(ports) == 0 {
		e.skip = true
		return yield(e)
	}
	one := object{keys: o.keys}
	for _, v := range ports {
		e, port := e, plain(v)
		if one.parse(v) == nil {
			port = one.values["port"]
			e.skip = notUDP(one.first(protoKeys...)) || !isOpen(one.values["status"])
		}
		if e.Text = joinPort(addr, port); port == "" {
			e.unclear = faultPortColumn
		}
		if !yield(e) {
			return false
		}
	}
	return true
}

func (o *object) within(path string) string {
	if o.at == "" {
		return path
	}
	return o.at + " | " + path
}

// flatten searches the objects nested in text for a member that meets the condition is(m,
// value). If there is such a member, flatten returns a fault; it includes the jq command
// that moves the member to the top level, unless the path of the member is long or has
// unusual characters. Otherwise flatten returns "".
func (o *object) flatten(text []byte, is func(m member, value string) bool) fault {
	if o.census {
		return ""
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return ""
		}
		key := "" // t is valid only until the next call
		if t.Kind() == '"' {
			key = t.String()
		}
		kind, n := d.StackIndex(d.StackDepth())
		if next := d.PeekKind(); kind != '{' || n%2 == 0 || d.StackDepth() < 2 || next != '"' && next != '0' {
			continue
		}
		pointer := string(d.StackPointer())
		v, err := d.ReadValue()
		if err != nil {
			return ""
		}
		steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		steps = steps[:len(steps)-1]
		m, value := o.member(key), plain(v)
		outer := o.member(steps[len(steps)-1] + "_" + key) // "ports": {"query": …}
		byKey := is(m, value) && (m.port == queryPort || outer.port != queryPort)
		if !byKey && !is(outer, value) {
			continue
		}
		path, top := "", ""
		for _, step := range steps {
			switch {
			case isIdentifier.MatchString(step):
				path += "." + step
			case strings.Trim(step, "0123456789") == "":
				path += "[]"
			default:
				return faultNested
			}
			top = cmp.Or(top, path)
		}
		switch {
		case byKey || m.port == plainPort:
		case !isIdentifier.MatchString(key):
			return faultNested
		case outer.port == queryPort:
			path = "{query_port: " + path + "." + key + "}"
		default:
			path = "{port: " + path + "." + key + "}"
		}
		if len(path) > maxShown {
			return faultNested
		}
		return faultNested + fault(": jq -c '"+o.within(". + "+path+" | del("+top+")")+"'")
	}
}

var isIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (o *object) isHTTPX() bool { return o.values["url"] != "" && o.values["input"] != "" }

// host returns the address, or else the name, of a host that httpx found.
func (o *object) host() (host string) {
	if host = o.values["hostip"]; host != "" {
		return host
	}
	host = o.values["host"]
	if _, f := parse([]byte(host)); f == "" {
		return host
	}
	if a := elements(o.values["a"]); len(a) > 0 {
		return plain(a[0])
	}
	return host
}

// notUDP reports whether a row is about another protocol than UDP. A row with no protocol,
// or with an unknown word, counts as UDP.
func notUDP(protocol string) bool {
	switch strings.ToLower(protocol) {
	case "tcp", "sctp", "icmp":
		return true
	}
	return false
}

// isOpen reports whether a port may be open. If an open UDP port does not answer, nmap
// calls it "open|filtered".
func isOpen(state string) bool { return state == "" || state == "open" || state == "open|filtered" }

func isClosed(state string) bool { return strings.EqualFold(state, "closed") }

// joinPort appends the port to the address, unless the address already has a port or the
// port is empty.
func joinPort(addr, port string) []byte {
	if port == "" || strings.Contains(addr, ":") { // a port, or IPv6
		return []byte(addr)
	}
	return slices.Concat([]byte(addr), []byte(":"), []byte(port))
}

func splitPort(addr string) (host, port string) {
	if strings.Count(addr, ":") != 1 {
		return addr, ""
	}
	host, port, _ = strings.Cut(addr, ":")
	return host, port
}
