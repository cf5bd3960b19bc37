package openid

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // hashes of signatures
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// keySet are a provider's public keys (RFC 7517).
type keySet struct {
	Keys []key `json:"keys"`
}

type key struct {
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	N     string `json:"n"`
	E     string `json:"e"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// signature is an algorithm that ID tokens may be signed with.
type signature struct {
	hash  crypto.Hash
	curve elliptic.Curve // nil: RSA
}

var signatures = map[string]signature{
	"RS256": {hash: crypto.SHA256}, "RS384": {hash: crypto.SHA384}, "RS512": {hash: crypto.SHA512},
	"ES256": {crypto.SHA256, elliptic.P256()}, "ES384": {crypto.SHA384, elliptic.P384()},
}

// verify returns the claims of an ID token if it is the provider's, for this client, for this sign-in and still valid.
func (p *Provider) verify(token string, c Config, nonce string, now time.Time) (map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("it is no signed token")
	}
	var header struct {
		Algorithm string `json:"alg"`
		Key       string `json:"kid"`
	}
	claims := map[string]any{}
	if err := decode(parts[0], &header); err != nil {
		return nil, err
	}
	if err := decode(parts[1], &claims); err != nil {
		return nil, err
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, err
	}
	if len(p.Algorithms) > 0 && !slices.Contains(p.Algorithms, header.Algorithm) {
		return nil, fmt.Errorf("signature algorithm %q is not the provider's", header.Algorithm)
	}
	if err := p.keys.check(header.Algorithm, header.Key, parts[0]+"."+parts[1], sig); err != nil {
		return nil, err
	}
	return claims, p.checkClaims(claims, c, nonce, now)
}

func decode(part string, into any) error {
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (k keySet) check(algorithm, id, text string, sig []byte) error {
	a, known := signatures[algorithm]
	if !known {
		return fmt.Errorf("signature algorithm %q is not supported", algorithm)
	}
	h := a.hash.New()
	h.Write([]byte(text))
	sum := h.Sum(nil)
	for _, key := range k.Keys {
		if id != "" && key.ID != id || key.Use != "" && key.Use != "sig" {
			continue
		}
		if a.curve == nil && key.verifyRSA(a.hash, sum, sig) || a.curve != nil && key.verifyEC(a.curve, sum, sig) {
			return nil
		}
	}
	return errors.New("signature verification failed")
}

func (k key) verifyRSA(hash crypto.Hash, sum, sig []byte) bool {
	n, e := number(k.N), number(k.E)
	if k.Type != "RSA" || n == nil || n.BitLen() < 1024 || e == nil || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
		return false
	}
	return rsa.VerifyPKCS1v15(&rsa.PublicKey{N: n, E: int(e.Int64())}, hash, sum, sig) == nil
}

func (k key) verifyEC(curve elliptic.Curve, sum, sig []byte) bool {
	x, y := number(k.X), number(k.Y)
	size := (curve.Params().BitSize + 7) / 8
	if k.Type != "EC" || k.Curve != curve.Params().Name || x == nil || y == nil || len(sig) != 2*size || x.BitLen() > 8*size || y.BitLen() > 8*size {
		return false
	}
	point := append([]byte{4}, append(x.FillBytes(make([]byte, size)), y.FillBytes(make([]byte, size))...)...)
	public, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	if err != nil {
		return false
	}
	return ecdsa.Verify(public, sum, new(big.Int).SetBytes(sig[:size]), new(big.Int).SetBytes(sig[size:]))
}

func number(text string) *big.Int {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return nil
	}
	return new(big.Int).SetBytes(data)
}

func (p *Provider) checkClaims(claims map[string]any, c Config, nonce string, now time.Time) error {
	audience := texts(claims["aud"])
	expires, _ := claims["exp"].(float64)
	switch {
	case claims["iss"] != p.Issuer:
		return fmt.Errorf("issuer is %v", claims["iss"])
	case !slices.Contains(audience, c.ClientID):
		return fmt.Errorf("audience is %v", audience)
	case slices.ContainsFunc(audience, func(a string) bool { return a != c.ClientID && !slices.Contains(c.Audiences, a) }):
		return fmt.Errorf("audience %v is not accepted", audience)
	case now.Unix() >= int64(expires):
		return errors.New("it has expired")
	case claims["nonce"] != nonce:
		return errors.New("it is for another sign-in")
	}
	if sub, ok := claims["sub"].(string); !ok || sub == "" {
		return errors.New("it has no subject")
	}
	return nil
}

// texts is a claim that may be one text or several.
func texts(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, e := range v {
			if t, ok := e.(string); ok {
				list = append(list, t)
			}
		}
		return list
	}
	return nil
}
