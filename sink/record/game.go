package record

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/game"
)

// modsValue is a list of mods. An empty list means that there are no mods. Properties
// of a mod that the game does not send are absent.
type modsValue []game.Mod

func (v *modsValue) put(e *Encoder, dst []byte, f *field) []byte {
	dst = append(f.start(dst), '[')
	for _, e.mod = range *v {
		dst = end(e.appendKeys(append(dst, '{'), f.fields), '}')
	}
	return end(dst, ']')
}

func (v *modsValue) add(r *Reader) {
	*v = append(*v, r.mod)
	r.mod = game.Mod{}
}

// attributesValue holds the values that only some games have. If a value is not UTF-8, its
// exact bytes are in the rules or keywords of the record.
type attributesValue []game.Attribute

func (v *attributesValue) put(_ *Encoder, dst []byte, f *field) []byte {
	if len(*v) == 0 {
		return dst
	}
	dst = append(f.start(dst), '{')
	for i := range *v {
		a := &(*v)[i]
		dst, _ = appendString(dst, []byte(a.Name))
		dst, _ = appendString(append(dst, ':'), a.Value)
		dst = append(dst, ',')
	}
	return end(dst, '}')
}

func (v *attributesValue) pair(r *Reader, name, value []byte) {
	if _, again := r.named[string(name)]; !again {
		a := game.Attribute{Name: r.word(name), Value: value, Source: keywordsSource}
		r.named[a.Name] = len(*v)
		*v = append(*v, a)
	}
}

// sourcesValue holds the source of each value of a Game. An attribute that came from the
// keywords, as most attributes do, has no entry.
type sourcesValue game.Game

func (v *sourcesValue) put(_ *Encoder, dst []byte, f *field) []byte {
	start := len(dst)
	dst = append(f.start(dst), '{')
	for set := v.Has & allKeys; set != 0; set &= set - 1 {
		k := game.Key(bits.TrailingZeros32(uint32(set)))
		if from := v.Sources[k]; from != "" {
			dst = append(appendQuoted(dst, k.String()), ':')
			dst, _ = appendString(dst, []byte(from))
			dst = append(dst, ',')
		}
	}
	for i := range v.Attributes {
		a := &v.Attributes[i]
		if tag, ok := strings.CutPrefix(a.Source, keywordsSource); ok && (tag == "" || tag[0] == '.') {
			continue
		}
		dst = append(append(dst, '"'), attributeSource...)
		stop := len(dst) - 1
		dst, _ = appendString(dst[:stop], []byte(a.Name))
		dst[stop] = '.' // overwrites the opening quote that appendString wrote
		dst, _ = appendString(append(dst, ':'), []byte(a.Source))
		dst = append(dst, ',')
	}
	if dst[len(dst)-1] == '{' {
		return dst[:start]
	}
	return end(dst, '}')
}

func (v *sourcesValue) pair(r *Reader, name, value []byte) {
	if attribute, ok := bytes.CutPrefix(name, []byte(attributeSource)); ok {
		r.from = append(r.from, game.Attribute{Name: r.word(attribute), Source: r.word(value)})
	}
	for k := range game.Key(game.NumKeys) {
		if k.String() == string(name) {
			v.Sources[k] = r.word(value)
		}
	}
}

const allKeys game.Keys = 1<<game.NumKeys - 1

// The source of a value from INFO's keywords, and the prefix of an attribute's key
// in the object "sources".
const (
	keywordsSource  = "keywords"
	attributeSource = "attributes."
)
