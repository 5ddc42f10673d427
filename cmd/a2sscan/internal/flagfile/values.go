package flagfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// listOf returns v if it is a list, and otherwise a list with v as its only
// element.
func listOf(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// Texts converts a value of the file to the strings that the flag would get on a
// command line, one string for each time that the flag is given.
func (f Flag) Texts(v any) (texts []string, err error) {
	items, ok := v.([]any)
	nested := slices.ContainsFunc(items, isList)
	switch {
	case !ok:
		return f.each([]any{v})
	case nested && f.Repeatable, f.Repeatable && !f.List:
		return f.each(items)
	case nested || !f.List:
		return nil, errors.New("takes one value, and this is a list")
	case len(items) == 0:
		return nil, nil
	}
	return f.each([]any{items})
}

// each converts each value to one string. It joins the elements of a list with
// commas.
func (f Flag) each(values []any) (texts []string, err error) {
	for _, v := range values {
		var words []string
		for _, item := range listOf(v) {
			word, err := f.scalar(item)
			if err != nil {
				return nil, err
			}
			words = append(words, word)
		}
		texts = append(texts, strings.Join(words, ","))
	}
	return texts, nil
}

// scalar converts a single value to the string that the flag accepts.
func (f Flag) scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		return f.truth(v)
	case []any:
		return "", errors.New("a list in a list in a list")
	case map[string]any:
		return "", errors.New("a table is no value of a flag")
	}
	return "", errors.New("a date is no value of a flag: put it in quotes")
}

// truth converts true or false to the string that the flag accepts.
func (f Flag) truth(v bool) (string, error) {
	switch {
	case v && f.Implied != "":
		return f.Implied, nil
	case f.Bool:
		return strconv.FormatBool(v), nil
	}
	return "", fmt.Errorf("takes a value, not %t", v)
}
