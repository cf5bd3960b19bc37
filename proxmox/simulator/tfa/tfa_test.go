package tfa

import (
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// TestCodesOfTheStandard compares with the codes of RFC 6238, appendix B.
func TestCodesOfTheStandard(t *testing.T) {
	seeds := map[string]string{
		"SHA1": "12345678901234567890", "SHA256": "12345678901234567890123456789012",
		"SHA512": "1234567890123456789012345678901234567890123456789012345678901234",
	}
	for _, c := range []struct {
		at        int64
		algorithm string
		want      string
	}{
		{59, "SHA1", "94287082"}, {59, "SHA256", "46119246"}, {59, "SHA512", "90693936"},
		{1111111109, "SHA1", "07081804"}, {2000000000, "SHA256", "90698825"}, {20000000000, "SHA512", "47863826"},
	} {
		totp := &TOTP{Secret: []byte(seeds[c.algorithm]), Digits: 8, Algorithm: c.algorithm, Period: 30}
		if got := totp.Code(time.Unix(c.at, 0)); got != c.want {
			t.Errorf("%s at %d: %s, want %s", c.algorithm, c.at, got, c.want)
		}
	}
}

func TestAddressesOfCodes(t *testing.T) {
	const uri = "otpauth://totp/Proxmox%20VE:u%40pve?secret=JBSWY3DPEHPK3PXP&digits=8&algorithm=SHA256&period=60&issuer=Proxmox%20VE"
	got, err := ParseURI(uri)
	if err != nil {
		t.Fatal(err)
	}
	if got.Account != "u@pve" || got.Issuer != "Proxmox VE" || got.Digits != 8 || got.Period != 60 || got.Algorithm != "SHA256" {
		t.Errorf("%+v", got)
	}
	if again, err := ParseURI(got.URI()); err != nil || again.Code(noon) != got.Code(noon) {
		t.Errorf("%s: %v", got.URI(), err)
	}
	for uri, want := range map[string]string{
		"http://x":                           "not an otpauth uri",
		"otpauth://totp/x":                   "missing '?' in otp uri",
		"otpauth://totp/x?digits=6":          "missing secret in otpauth url",
		"otpauth://totp/x?secret":            "bad value in otpauth uri",
		"otpauth://totp/x?secret=1":          "failed to decode otp secret in otpauth url",
		"otpauth://totp/x?secret=AA&y=1":     "unknown otpauth uri parameter: 'y'",
		"otpauth://totp/x?period=0":          "failed to parse value 'period'",
		"otpauth://totp/x?digits=99":         "failed to parse value 'digits'",
		"otpauth://totp/x?algorithm=md5":     "failed to parse value 'algorithm'",
		"otpauth://hotp/x?secret=AA&count=1": "not an otpauth uri",
	} {
		if _, err := ParseURI(uri); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
}

func withCodes(t *testing.T) (*Factors, func(time.Time) string) {
	t.Helper()
	const secret = "JBSWY3DPEHPK3PXP"
	totp, err := FromSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	f := &Factors{}
	if _, err := f.AddSecret("phone", secret, noon); err != nil {
		t.Fatal(err)
	}
	return f, func(at time.Time) string { return "totp:" + totp.Code(at) }
}

func TestACodeIsGoodOnce(t *testing.T) {
	f, code := withCodes(t)
	for _, step := range []struct {
		name   string
		answer string
		now    time.Time
		good   bool
	}{
		{"of the present", code(noon), noon, true},
		{"the same again", code(noon), noon.Add(20 * time.Second), false},
		{"one from before", code(noon.Add(-30 * time.Second)), noon, false},
		{"of the next period", code(noon.Add(30 * time.Second)), noon.Add(10 * time.Second), true},
		{"two periods ahead", code(noon.Add(5 * time.Minute)), noon.Add(4 * time.Minute), false},
	} {
		if err := f.Verify(step.answer, step.now); (err == nil) != step.good {
			t.Errorf("a code %s: %v", step.name, err)
		}
	}
}

func TestEightWrongCodesLockCodesUntilARecoveryKeyIsUsed(t *testing.T) {
	f, code := withCodes(t)
	keys, err := f.AddRecovery(noon)
	if err != nil || len(keys) != 10 || slices.Contains(keys[1:], keys[0]) {
		t.Fatalf("%v, %v", keys, err)
	}
	for i := range 8 {
		if totp, _ := f.Locked(noon); totp {
			t.Fatalf("locked after %d wrong codes", i)
		}
		_ = f.Verify("totp:000000", noon)
	}
	if totp, until := f.Locked(noon); !totp || until != 0 || f.Verify(code(noon), noon) == nil {
		t.Errorf("after eight wrong codes: %v, %v", totp, until)
	}
	if err := f.Verify("recovery:"+keys[3], noon); err != nil {
		t.Errorf("recovery key: %v", err)
	}
	if err := f.Verify("recovery:"+keys[3], noon); err == nil {
		t.Error("a recovery key was good twice")
	}
	if err := f.Verify(code(noon), noon); err != nil {
		t.Errorf("a code afterwards: %v", err)
	}
	if left := f.Challenge()[TypeRecovery].([]int); len(left) != 9 || slices.Contains(left, 3) {
		t.Errorf("keys that are left: %v", left)
	}
}

func TestAHundredWrongAnswersLockAllForAnHour(t *testing.T) {
	f, code := withCodes(t)
	for range 100 {
		_ = f.Verify("recovery:x", noon)
	}
	if _, until := f.Locked(noon); until != noon.Add(time.Hour).Unix() || f.Verify(code(noon), noon) == nil {
		t.Errorf("locked until %d", until)
	}
	if err := f.Verify(code(noon.Add(time.Hour)), noon.Add(time.Hour)); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	for range 100 {
		_ = f.Verify("recovery:x", noon)
	}
	if !f.Unlock(noon) || f.Unlock(noon) {
		t.Error("unlocking does not tell whether there was a lock")
	}
}

func TestFactorsCanBeSwitchedOffAndDeleted(t *testing.T) {
	f, _ := withCodes(t)
	id := f.Entries()[0].ID
	off, name := false, "old phone"
	if err := f.Update(id, &name, &off); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Entry(id); err != nil || e.Enabled || e.Description != name {
		t.Errorf("%+v, %v", e, err)
	}
	if c := f.Challenge(); c != nil {
		t.Errorf("with all factors off a sign-in lacks %v", c)
	}
	if err := f.Update(TypeRecovery, &name, nil); err == nil {
		t.Error("recovery keys have no description")
	}
	if err := f.Delete(id); err != nil || !f.Empty() {
		t.Errorf("delete: %v", err)
	}
	if err := f.Delete(id); err == nil {
		t.Error("deleted twice")
	}
}
