package list

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object, or a row of a table whose columns have names. It holds the
// values that matter here: strings without their quotes, and others as they are written.
type object struct {
	values map[string]string
	stray  bool // what may be the port is in a place where it is not read
	dec    jsontext.Decoder
	schema string // of a census record, if it is not recordSchema
}

// The keys of an address, of its port and of the protocol; the first one with a value
// counts.
var (
	addrKeys  = []string{"ip_str", "ip", "saddr", "addr", "resolved", "address", "endpoint", "host", "ip:port", "ip_port", "ip_address"}
	portKeys  = []string{"query_port", "queryport", "port", "sport"}
	protoKeys = []string{"transport", "protocol", "proto"}
)

// isColumn has the keys that matter in tables, too, and isMember the others.
var (
	isColumn = setOf(addrKeys, portKeys, protoKeys, []string{"tag", "classification", "success"})
	isMember = setOf([]string{"host_ip", "a", "ports", "status", "tag_hex", "master", "servers", "data", "url", "input"})
)

func setOf(keys ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, key := range slices.Concat(keys...) {
		set[key] = true
	}
	return set
}

// put stores a value, unless its key has one.
func (o *object) put(key, value string) {
	if o.values == nil {
		o.values = map[string]string{}
	}
	if o.values[key] == "" {
		o.values[key] = value
	}
}

// ignore takes note of a number whose key does not matter.
func (o *object) ignore(key string) {
	o.stray = o.stray || strings.HasSuffix(strings.ToLower(key), "port")
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

// entries yields the targets of the object, which is written as text. It reports whether
// to continue.
func (o *object) entries(line int, text []byte, yield func(Entry) bool) bool {
	for _, key := range []string{"servers", "data"} { // of xash3d-query, and of Shodan's hosts
		if list := o.values[key]; strings.HasPrefix(list, "[") {
			more := true
			for _, v := range elements(list) {
				var inner object
				switch err := inner.parse(v); {
				case !more:
				case v[0] == '"':
					more = yield(Entry{Line: line, Text: []byte(plain(v))})
				case err != nil:
					more = yield(Entry{Line: line, Text: v, Fault: faultJSON})
				default:
					more = inner.entries(line, v, yield)
				}
			}
			return more
		}
	}
	e := Entry{Line: line, Text: text, Tag: []byte(o.values["tag"]), stray: o.stray}
	if exact, err := hex.DecodeString(o.values["tag_hex"]); err == nil && len(exact) > 0 {
		e.Tag = exact
	}
	if master := o.values["master"]; strings.HasPrefix(master, "{") {
		e.Master = []byte(master)
	}
	addr, port := o.first(addrKeys...), o.first(portKeys...)
	reply, success := o.values["classification"], o.values["success"]
	switch {
	case o.isHTTPX():
		addr, port, e.stray = o.host(), "", false
	case notUDP(o.first(protoKeys...)):
		e.skip = true
	case o.values["saddr"] != "": // ZMap got no UDP reply
		e.skip = reply != "" && reply != "udp" || success == "0" || success == "false"
	}
	if addr == "" {
		e.Fault = faultNoAddress
		return yield(e)
	}
	if ports := o.values["ports"]; port == "" && strings.HasPrefix(ports, "[") {
		more := true
		for _, v := range elements(ports) {
			e, port := e, string(v)
			var one object
			if one.parse(v) == nil {
				port = one.values["port"]
				e.skip = e.skip || notUDP(one.values["proto"]) || !isOpen(one.values["status"])
			}
			e.Text = joinPort(addr, port)
			more = more && yield(e)
		}
		return more
	}
	e.Text = joinPort(addr, port)
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
	if a := elements(o.values["a"]); len(a) > 0 {
		return plain(a[0])
	}
	return host
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
