// Package told answers: how is a sentence told so that it can be said in other languages too? Whoever says it says it in English; beside that stand a code and
// what is put into the sentence, and the page has the sentence of each code in every language.
package told

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Params are what is put into a sentence, by name: strings, numbers, Bytes, Span, Moment, Sentences, or lists of strings or Sentences.
type Params map[string]any

// Text is a sentence in English, with its parameters in braces.
type Text struct {
	// Code is what other languages know it by.
	Code string
	// One is the sentence where the parameter n is 1, Other for any other number. One is empty for a sentence that counts nothing.
	One, Other string
}

var all = map[string]*Text{}

// All are all texts of the program, by code.
func All() map[string]*Text { return all }

// Define makes a text. Texts are made where packages begin, so that All has them.
func Define(code, english string) *Text { return define(&Text{Code: code, Other: english}) }

// Count makes a text that counts n.
func Count(code, one, other string) *Text { return define(&Text{code, one, other}) }

func define(t *Text) *Text {
	if all[t.Code] != nil {
		panic("two texts have the code " + t.Code)
	}
	all[t.Code] = t
	return t
}

// Sentence is a text with what is put into it.
type Sentence struct {
	// Code names the sentence.
	Code string `json:"code"`
	// Params are what is put into it, by name: a string, a number, {bytes}, {seconds}, {time}, another sentence, or a list of strings or sentences.
	Params map[string]any `json:"params,omitempty"`

	english string
}

// With puts parameters into a text; nil for one without any.
func (t *Text) With(p Params) Sentence {
	english := t.Other
	if n, counts := p["n"].(int); counts && n == 1 && t.One != "" {
		english = t.One
	}
	// One pass, so that braces in values stay as they are.
	var pairs []string
	for name, value := range p {
		pairs = append(pairs, "{"+name+"}", say(value))
	}
	return Sentence{Code: t.Code, Params: p, english: strings.NewReplacer(pairs...).Replace(english)}
}

// String is the sentence in English.
func (s Sentence) String() string { return s.english }

// Plain is what is the same in every language, such as a name.
func Plain(words string) Sentence { return Sentence{english: words} }

// In names the field beside which the sentence stands.
func (s Sentence) In(field string) Fields { return Fields{field: s} }

// Fields say by their names which fields of the same object are sentences, and how other languages say them. What is not among them is said in English alone.
type Fields map[string]Sentence

// Together are sentences by the names of their fields; those that have no code are left out.
func Together(all Fields) Fields {
	maps.DeleteFunc(all, func(_ string, s Sentence) bool { return s.Code == "" })
	if len(all) == 0 {
		return nil
	}
	return all
}

// Error is an error that is told to people.
type Error struct {
	Sentence
	cause error
}

// Because is an error that is told in these words; cause is what errors.Is finds in it, nil for none.
func (s Sentence) Because(cause error) error { return &Error{s, cause} }

// Error is the sentence in English.
func (e *Error) Error() string { return e.english }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.cause }

// Told is the sentence.
func (e *Error) Told() Sentence { return e.Sentence }

// Of is the sentence of the first error in a chain that has one.
func Of(err error) (Sentence, bool) {
	var told interface {
		error
		Told() Sentence
	}
	if !errors.As(err, &told) {
		return Sentence{}, false
	}
	return told.Told(), true
}

// say is a parameter in English.
func say(value any) string {
	switch v := value.(type) {
	case []string:
		return list(v)
	case []Sentence:
		words := make([]string, len(v))
		for i, s := range v {
			words[i] = s.english
		}
		return list(words)
	}
	return fmt.Sprint(value)
}

func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
