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
	others []string // values that may be the query port
	joins  bool     // there is a port at which players join, or a port of unknown meaning
	twice  bool     // two keys name the query port, and have different values
	noPort bool     // the key of the port has no value
	nested bool     // a nested value may be the port
	rare   bool     // there is a key that most rows do not have
	at     string   // the jq filter that finds this object in its line; empty: the object is the line
	dec    jsontext.Decoder
	keys   map[string]member // the meanings of the keys that were seen
	census bool              // the object is a census record of the schema recordSchema
	schema string            // schema of a census record, if it is not recordSchema
}

// entries yields the targets of the object, and reports whether to continue. Its second
// argument is the object as written.
func (o *object) entries(line int, text []byte, yield func(Entry) bool) bool {
	addr, port := o.first(addrKeys...), o.values["port"]
	e := Entry{Line: line, Text: text, Tag: []byte(o.values["tag"]), skip: notUDP(o.first(protoKeys...)) || isClosed(o.first(stateKeys...))}
	if o.rare {
		if more, done := o.rows(line, text, yield); done {
			return more
		}
		if exact, err := hex.DecodeString(o.values["taghex"]); err == nil && len(exact) > 0 {
			e.Tag = exact
		}
		if master := o.values["master"]; strings.HasPrefix(master, "{") {
			e.Master = []byte(master)
		}
		if o.values["saddr"] != "" { // ZMap: sport is the target's port, dport the scanner's
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
		if f := o.search(text, "", func(m member, _ portKind, value string) bool { return slices.Contains(addrKeys, m.name) && value != "" }); f != "" {
			e.Fault = f
		}
		return yield(e)
	}
	host, own := splitPort(addr)
	query := o.values["queryport"]
	asked := firstPort(query, own, port)
	o.other(port)
	for _, key := range addrKeys { // two keys may have the address, one of them with the port
		if o.values[key] == "" {
			continue
		}
		other, p := splitPort(o.values[key])
		switch {
		case p == "" || p[0] < '1' || p[0] > '9':
		case asked == "" && (other == host || !isAddress(other)):
			asked = p
		default:
			o.other(p)
		}
	}
	if list := cmp.Or(o.values["ports"], o.values["services"]); asked == "" && list != "" { // masscan, Censys
		switch list[0] {
		case '[':
			return o.portList(e, addr, elements(list), yield)
		case '{':
		default:
			asked = list
		}
	}
	e.Text = trimConnect([]byte(addr))
	if asked != "" {
		e.Text = joinPort(host, asked)
	}
	e.hostOnly = o.noPort
	o.doubt(&e, text, asked, asked != "" && asked == query)
	if asked == "" && e.unclear == "" && (query == "0" || port == "0") {
		e.Text = joinPort(addr, "0")
	}
	return yield(e)
}

// firstPort returns the first of the ports that is neither empty nor 0.
func firstPort(ports ...string) string {
	for _, port := range ports {
		if port != "" && port != "0" {
			return port
		}
	}
	return ""
}

// doubt sets e.beside, e.Fault or e.unclear if another port may be the query port. Of its
// arguments, text is the object as written; asked is the chosen port, or empty; and isQuery
// says whether the key of the chosen port names the query port.
func (o *object) doubt(e *Entry, text []byte, asked string, isQuery bool) {
	nested := func(kinds ...portKind) fault {
		if !o.nested {
			return ""
		}
		return o.search(text, "", func(_ member, kind portKind, value string) bool {
			return slices.Contains(kinds, kind) && mayBePort(value) && trimPort(value) != asked
		})
	}
	query := nested(queryPort)
	switch {
	case isQuery:
		e.beside = o.twice || query != ""
	case asked != "" && query != "":
		e.Fault = query
	case asked != "":
		e.beside = slices.ContainsFunc(o.others, func(v string) bool { return v != asked }) || nested(plainPort, otherPort) != ""
	default:
		e.unclear = cmp.Or(query, nested(plainPort, otherPort))
		if e.unclear == "" && (o.joins || len(o.others) > 0 || nested(joinPorts) != "") {
			e.unclear = faultPortColumn
		}
	}
}

// rows yields the targets of the rows inside the object. Its first result reports whether
// to continue, and its second result whether there are such rows.
func (o *object) rows(line int, text []byte, yield func(Entry) bool) (more, done bool) {
	// Such rows are in "servers" (xash3d-query), in "data" (Shodan's hosts, BattleMetrics) or
	// in "result" (DZSA).
	for _, key := range []string{"servers", "data", "result"} {
		list := elements(o.values[key])
		if len(list) == 0 || o.first(addrKeys...) != "" && !slices.ContainsFunc(list, o.isRow) {
			continue
		}
		inner := object{keys: o.keys}
		around := o.joins || len(o.others) > 0 || o.values["ports"] != "" || o.nested && o.search(text, key, func(_ member, kind portKind, value string) bool {
			return kind != notPort && mayBePort(value)
		}) != ""
		for _, v := range list {
			err := inner.parse(v)
			switch {
			case v[0] == '"':
				more = yield(Entry{Line: line, Text: []byte(plain(v))})
			case err != nil:
				more = yield(Entry{Line: line, Text: v, Fault: faultJSON})
			default:
				inner.at = o.behind("del(." + key + ") + ." + key + "[]")
				inner.inherit(o)
				inner.joins = inner.joins || around
				more = inner.entries(line, v, yield)
			}
			if !more {
				break
			}
		}
		return more, true
	}
	return true, false
}

// isRow reports whether a value inside an object with an address is a target of its own.
// It is one if it has an address, or if it has a port and the outer object has no port.
func (o *object) isRow(value json.RawMessage) bool {
	inner := object{keys: o.keys}
	if inner.parse(value) != nil {
		return false
	}
	_, own := splitPort(o.first(addrKeys...))
	hasPort := firstPort(o.values["queryport"], o.values["port"], own) != ""
	return inner.first(addrKeys...) != "" || !hasPort && (firstPort(inner.values["queryport"], inner.values["port"]) != "" || len(inner.others) > 0)
}

// inherit copies the address, the ports, the tag and the master's data from outer, the
// object around the row o. It keeps the values that o already has.
func (o *object) inherit(outer *object) {
	if o.first(addrKeys...) == "" {
		o.set("ip", outer.first(addrKeys...))
	}
	for _, name := range []string{"queryport", "port", "tag", "taghex", "master"} {
		if o.values[name] == "" {
			o.set(name, outer.values[name])
		}
	}
}

func (o *object) set(name, value string) {
	if value != "" {
		o.put(o.member(name), value)
	}
}

// merge copies the members of inner, an object inside o, to o. It keeps the values that o
// already has.
func (o *object) merge(inner *object) {
	if inner == nil {
		return
	}
	for name, value := range inner.values {
		if name != "attributes" && name != "endpoint" {
			o.set(name, value)
		}
	}
	o.others = append(o.others, inner.others...)
	o.joins, o.twice, o.noPort = o.joins || inner.joins, o.twice || inner.twice, o.noPort || inner.noPort
}

// inside returns the object that is the value of a key; nil if the value is no object.
func (o *object) inside(key string) *object {
	if !strings.HasPrefix(o.values[key], "{") {
		return nil
	}
	inner := &object{keys: o.keys}
	if inner.read([]byte(o.values[key])) != nil {
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
	} else if data := o.inside("data"); kind != "" && data != nil {
		return isClosed(data.values["status"])
	}
	// These values mean that ZMap got no UDP reply.
	return o.values["saddr"] != "" && (reply != "" && reply != "udp" || success == "0" || success == "false")
}

// portList yields a target for each element of ports, with the address and the tag of o.
// An element is a port number, or an object with the keys of a row.
func (o *object) portList(e Entry, addr string, ports []json.RawMessage, yield func(Entry) bool) bool {
	if len(ports) == 0 {
		e.skip = true
		return yield(e)
	}
	one := object{keys: o.keys}
	for _, v := range ports {
		if one.parse(v) != nil {
			e := e
			if e.Text = joinPort(addr, plain(v)); !yield(e) {
				return false
			}
			continue
		}
		one.at, one.joins = noPath, true
		if one.values == nil {
			one.values = map[string]string{}
		}
		one.values[addrKeys[0]] = addr
		one.inherit(o)
		if !one.entries(e.Line, v, yield) {
			return false
		}
	}
	return true
}

// noPath is the value of object.at if no jq filter finds the object.
const noPath = "-"

// behind returns the jq filter that applies path to the object.
func (o *object) behind(path string) string {
	if o.at == "" || o.at == noPath {
		return o.at + path
	}
	return o.at + " | " + path
}

// search looks for a port or an address in the objects and arrays nested in text, but not
// in the member of text whose key is the second argument. For each nested value it calls
// its last argument with the meaning of the value's key, with the kind of port that this
// key and the keys around it name, and with the value. In an object of ports, a key that
// is a port counts as a value. Once a call returns true, search returns a fault, which
// usually includes the jq command that copies the value to the top level. If no call
// returns true, search returns "".
func (o *object) search(text []byte, except string, is func(m member, kind portKind, value string) bool) (found fault) {
	if o.census {
		return ""
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var read func(depth int, key string, kind portKind) bool // reports whether to continue
	read = func(depth int, key string, kind portKind) bool {
		begin := d.PeekKind()
		if begin != '{' && begin != '[' {
			v, err := d.ReadValue()
			if err == nil && depth > 1 && (begin == '"' || begin == '0') && is(o.member(key), kind, plain(v)) {
				found = o.flatten(d, o.member(key), kind, plain(v))
			}
			return err == nil && found == ""
		}
		d.ReadToken()
		for next := d.PeekKind(); next != '}' && next != ']'; next = d.PeekKind() {
			name, of := key, kind
			if begin == '{' {
				t, err := d.ReadToken()
				if err != nil {
					return false
				}
				if name = t.String(); depth == 0 && name == except {
					d.SkipValue()
					continue
				}
				if kind != notPort && keyPort.MatchString(name) && is(member{}, kind, name) {
					found = faultNested
					return false
				}
				of = o.kindOf(name, key, kind)
			}
			if !read(depth+1, name, of) {
				return false
			}
		}
		_, err := d.ReadToken()
		return err == nil
	}
	read(0, "", notPort)
	return found
}

// kindOf returns the kind of port that the value of a key is. The other arguments describe
// the object that contains the key: its own key (above), and its own kind of port.
func (o *object) kindOf(key, above string, kind portKind) portKind {
	if kind != notPort {
		above = "port"
	}
	own, joined := o.member(key).nestedPort(), notPort
	if above != "" {
		joined = o.member(above + "_" + key).nestedPort() // "ports": {"query": …}
	}
	switch {
	case own == queryPort || joined == queryPort || kind == queryPort:
		return queryPort
	case own != notPort:
		return own
	case joined != notPort:
		return joined
	}
	return kind
}

// flatten returns the fault for a nested value that d has just read.
func (o *object) flatten(d *jsontext.Decoder, m member, kind portKind, value string) fault {
	path, level := "", 0
	for step := range d.StackPointer().Tokens() {
		level++
		switch parent, _ := d.StackIndex(level); {
		case parent == '[':
			path += "[]"
		case isIdentifier.MatchString(step):
			path += "." + step
		default:
			return faultNested
		}
	}
	name := "port"
	switch {
	case kind == queryPort:
		name = "query_port"
	case kind == notPort:
		name = "ip"
	}
	copied := "{" + name + ": " + path + "}"
	if kind == notPort && !strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '.')]
		copied = path // the object of the address may have the port, too
	}
	if len(path) > maxShown || o.at == noPath || kind != notPort && !isNumber(value) {
		return faultNested
	}
	if strings.Contains(path, "[]") {
		copied = "(" + copied + " // {})" // the array may be empty
	}
	return faultNested + fault(": jq -c '"+o.behind("del("+path+") + "+copied)+"'")
}

// keyPort matches a key that is a port, such as 27015 or 27015/udp.
var keyPort = regexp.MustCompile(`(?i)^([a-z]+[^a-z0-9])?[0-9]+([^a-z0-9][a-z]+)?$`)

var isIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isHTTPX reports whether the object is what httpx writes about a web server.
func (o *object) isHTTPX() bool {
	return o.values["input"] != "" && strings.Contains(o.values["url"], "://") && o.values["ip"] == "" && o.host() != ""
}

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
// or with an unknown one, counts as UDP.
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
	if port == "" || strings.Contains(addr, ":") { // addr has a port, or is IPv6
		return []byte(addr)
	}
	return slices.Concat([]byte(addr), []byte(":"), []byte(port))
}

// splitPort splits an address, which may be a link, into host and port. The port is empty if
// there is none.
func splitPort(addr string) (host, port string) {
	if strings.ContainsAny(addr, " /") {
		addr = string(trimConnect([]byte(addr)))
	}
	if strings.Count(addr, ":") != 1 || strings.HasPrefix(addr, "{") {
		return addr, ""
	}
	host, port, _ = strings.Cut(addr, ":")
	return host, port
}
