package master

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// element is the JSON form of a server in the answers of GetServerList and
// GetServersAtAddress. Every field is optional.
type element struct {
	Addr       opt[string] `json:"addr"`
	Name       opt[string] `json:"name"`
	Map        opt[string] `json:"map"`
	GameDir    opt[string] `json:"gamedir"`
	Product    opt[string] `json:"product"`
	Version    opt[string] `json:"version"`
	GameType   opt[string] `json:"gametype"`
	OS         opt[string] `json:"os"`
	SteamID    opt[id]     `json:"steamid"`
	AppID      opt[uint32] `json:"appid"`
	GamePort   opt[uint32] `json:"gameport"`
	SpecPort   opt[uint32] `json:"specport"`
	Region     opt[int32]  `json:"region"`
	Players    opt[int32]  `json:"players"`
	MaxPlayers opt[int32]  `json:"max_players"`
	Bots       opt[int32]  `json:"bots"`
	GMSIndex   opt[int32]  `json:"gmsindex"`
	Secure     opt[bool]   `json:"secure"`
	Dedicated  opt[bool]   `json:"dedicated"`
	LAN        opt[bool]   `json:"lan"`
}

// opt is a field that may be missing or have a wrong type.
type opt[T any] struct {
	value T
	has   bool
	odd   bool // the field is present, but has a wrong type
}

// UnmarshalJSON never returns an error: after an error, package json would not
// decode the later fields. A null counts as a missing field.
func (o *opt[T]) UnmarshalJSON(b []byte) error {
	*o = opt[T]{}
	if string(b) == "null" {
		return nil
	}
	err := json.Unmarshal(b, &o.value)
	o.has, o.odd = err == nil, err != nil
	return nil
}

// id is a 64-bit number, which the Web API usually sends as a JSON string.
type id uint64

// UnmarshalJSON parses a decimal number with or without quotes.
func (i *id) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	*i = id(v)
	return err
}

// server replaces all fields of s, except Addr, with those of the element. It
// reports whether it dropped a field because of its type.
func (v *element) server(s *Server) (odd bool) {
	t := taker{Server: s, odd: v.Addr.odd}
	*s = Server{Addr: s.Addr}
	take(&t, HasName, &s.Name, &v.Name)
	take(&t, HasMap, &s.Map, &v.Map)
	take(&t, HasGameDir, &s.GameDir, &v.GameDir)
	take(&t, HasProduct, &s.Product, &v.Product)
	take(&t, HasVersion, &s.Version, &v.Version)
	take(&t, HasGameType, &s.GameType, &v.GameType)
	take(&t, HasOS, &s.OS, &v.OS)
	take(&t, HasSteamID, (*id)(&s.SteamID), &v.SteamID)
	take(&t, HasAppID, &s.AppID, &v.AppID)
	take(&t, HasGamePort, &s.GamePort, &v.GamePort)
	take(&t, HasSpecPort, &s.SpecPort, &v.SpecPort)
	take(&t, HasRegion, &s.Region, &v.Region)
	take(&t, HasPlayers, &s.Players, &v.Players)
	take(&t, HasMaxPlayers, &s.MaxPlayers, &v.MaxPlayers)
	take(&t, HasBots, &s.Bots, &v.Bots)
	take(&t, HasGMSIndex, &s.GMSIndex, &v.GMSIndex)
	take(&t, HasSecure, &s.Secure, &v.Secure)
	take(&t, HasDedicated, &s.Dedicated, &v.Dedicated)
	take(&t, HasLAN, &s.LAN, &v.LAN)
	return t.odd
}

// taker is the destination of take: a server, and whether a field had a wrong type.
type taker struct {
	*Server
	odd bool
}

// take sets field to value and adds f to the server's Has, if the element has the
// value. It sets t.odd if the value has a wrong type.
func take[T any](t *taker, f Fields, field *T, value *opt[T]) {
	if value.has {
		*field = value.value
		t.Has |= f
	}
	t.odd = t.odd || value.odd
}

// AppendMaster appends what the master reported about the server as a JSON object:
// the value of "master" in a record. It contains the fields that the master sent,
// except the address.
func (s *Server) AppendMaster(dst []byte) []byte {
	o := object{dst: append(dst, '{'), has: s.Has}
	o.text(HasName, "name", s.Name)
	o.text(HasMap, "map", s.Map)
	o.text(HasGameDir, "folder", s.GameDir)
	o.text(HasProduct, "product", s.Product)
	o.number(HasAppID, "app_id", int64(s.AppID))
	o.number(HasPlayers, "players", int64(s.Players))
	o.number(HasMaxPlayers, "max_players", int64(s.MaxPlayers))
	o.number(HasBots, "bots", int64(s.Bots))
	o.flag(HasDedicated, "dedicated", s.Dedicated)
	o.text(HasOS, "os", s.OS)
	o.flag(HasSecure, "vac", s.Secure)
	o.text(HasVersion, "version", s.Version)
	o.number(HasRegion, "region", int64(s.Region))
	o.number(HasGamePort, "game_port", int64(s.GamePort))
	o.number(HasSpecPort, "sourcetv_port", int64(s.SpecPort))
	o.text(HasSteamID, "steam_id", strconv.FormatUint(s.SteamID, 10))
	o.text(HasGameType, "keywords", s.GameType)
	o.flag(HasLAN, "lan", s.LAN)
	o.number(HasGMSIndex, "gms_index", int64(s.GMSIndex))
	return append(o.dst, '}')
}

// AppendLine appends the server as a line of NDJSON:
// {"schema":1,"ip":"203.0.113.7","port":27015,"master":{…}}, with "master" only if
// the master sent more than the address.
func (s *Server) AppendLine(dst []byte) []byte {
	dst = append(dst, `{"schema":1,"ip":"`...)
	dst = s.Addr.Addr().AppendTo(dst)
	dst = append(dst, `","port":`...)
	dst = strconv.AppendUint(dst, uint64(s.Addr.Port()), 10)
	if s.Has != 0 {
		dst = s.AppendMaster(append(dst, `,"master":`...))
	}
	return append(dst, "}\n"...)
}

// object appends a JSON object to dst. It omits the members that are not in has.
type object struct {
	dst  []byte
	has  Fields
	some bool
}

// key appends the name of a member if the server has field f, and reports whether
// the server has it.
func (o *object) key(f Fields, name string) bool {
	if o.has&f == 0 {
		return false
	}
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(append(append(o.dst, '"'), name...), `":`...)
	return true
}

func (o *object) text(f Fields, name, value string) {
	if o.key(f, name) {
		o.dst = appendString(o.dst, value)
	}
}

func (o *object) number(f Fields, name string, value int64) {
	if o.key(f, name) {
		o.dst = strconv.AppendInt(o.dst, value, 10)
	}
}

func (o *object) flag(f Fields, name string, value bool) {
	if o.key(f, name) {
		o.dst = strconv.AppendBool(o.dst, value)
	}
}

// appendString appends s as a JSON string. It escapes all unprintable characters,
// which is more than JSON requires, because the output may be shown on a terminal.
// Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case strconv.IsPrint(r):
			dst = append(dst, string(r)...)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			dst = appendEscape(appendEscape(dst, hi), lo)
		default:
			dst = appendEscape(dst, r)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
