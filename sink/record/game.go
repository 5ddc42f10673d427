package record

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/game"
)

// putMods appends mods. An empty list says that there are none. What the game does not
// say about a mod is absent.
func (e *Encoder) putMods(dst []byte, r *result) []byte {
	if !r.Game.Has.Has(game.KeyMods) && len(r.Game.Mods) == 0 {
		return dst
	}
	dst = append(dst, `"mods":[`...)
	for i := range r.Game.Mods {
		m := &r.Game.Mods[i]
		dst = append(dst, '{')
		if len(m.ID) > 0 {
			dst = appendText(dst, `"id":`, m.ID)
		}
		if len(m.Name) > 0 {
			dst = appendText(dst, `"name":`, m.Name)
		}
		if len(m.Hash) > 0 {
			dst = appendText(dst, `"hash":`, m.Hash)
		}
		if m.CreatorDLC {
			dst = appendBool(dst, `"creator_dlc":`, true)
		}
		dst = end(dst, '}')
	}
	return end(dst, ']')
}

// putAttributes appends the values that only some games have. If a value is not UTF-8,
// its exact bytes are in the rules or keywords of the record.
func (e *Encoder) putAttributes(dst []byte, r *result) []byte {
	all := r.Game.Attributes
	if len(all) == 0 {
		return dst
	}
	dst = append(dst, `"attributes":{`...)
	for i := range all {
		dst, _ = appendString(dst, all[i].Name)
		dst = append(dst, ':')
		dst, _ = appendString(dst, all[i].Value)
		dst = append(dst, ',')
	}
	return end(dst, '}')
}

// putSources appends where each value came from. An attribute that came from the
// keywords, as most do, has no entry.
func (e *Encoder) putSources(dst []byte, r *result) []byte {
	g := r.Game
	const key = `"sources":{`
	start := len(dst)
	dst = append(dst, key...)
	for set := g.Has & allKeys; set != 0; set &= set - 1 {
		k := game.Key(bits.TrailingZeros32(uint32(set)))
		if from := g.Sources[k]; from != "" {
			dst = append(dst, '"')
			dst = append(dst, k.String()...)
			dst = append(dst, '"', ':')
			dst, _ = appendString(dst, from)
			dst = append(dst, ',')
		}
	}
	for i := range g.Attributes {
		if a := &g.Attributes[i]; !fromKeywords(a.Source) {
			dst = appendAttributeSource(dst, a)
		}
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// allKeys has the bits of all common keys.
const allKeys game.Keys = 1<<game.NumKeys - 1

// The source of a value from INFO's keywords, and the prefix of an attribute's key
// in sources.
const (
	keywordsSource  = "keywords"
	attributeSource = "attributes."
)

// fromKeywords reports whether a source is INFO's keywords, or a single keyword.
func fromKeywords(source string) bool {
	tag, ok := strings.CutPrefix(source, keywordsSource)
	return ok && (tag == "" || tag[0] == '.')
}

// appendAttributeSource appends the source of an attribute.
func appendAttributeSource(dst []byte, a *game.Attribute) []byte {
	start := len(dst)
	dst, _ = appendString(dst, a.Name)
	dst = slices.Insert(dst, start+1, []byte(attributeSource)...)
	dst, _ = appendString(append(dst, ':'), a.Source)
	return append(dst, ',')
}

func isGameID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return id != ""
}
