package main

import (
	"errors"
	"strings"
)

// developer has the flags of the commands for developers who build on the API: they name the
// service and a key.
type developer struct {
	Server string `env:"BOXOFFICE_SERVER" default:"http://127.0.0.1:8080" help:"Address of the service."`
	Key    string `env:"BOXOFFICE_KEY" help:"API key of a test organization: listen needs the scope webhooks:manage, trigger all scopes."`
}

// testKey is the beginning of the API keys of test organizations. The facts of a test
// organization are not secret.
const testKey = "vt_test_"

// open returns a client that uses the key. It refuses the key of a live organization: the data of
// its buyers must not appear on a terminal, and what a trigger makes must not appear in its shop.
func (d *developer) open() (*apiClient, error) {
	switch {
	case d.Key == "":
		return nil, errors.New("there is no API key: name one by --key or BOXOFFICE_KEY (README.md, Develop against it)")
	case !strings.HasPrefix(d.Key, testKey):
		return nil, errors.New("the API key is not one of a test organization: those begin with " + testKey)
	}
	return &apiClient{url: d.root() + "/api/v1", bearer: d.Key}, nil
}

// root returns the address of the service without the path of its API. People copy either form.
func (d *developer) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(d.Server, "/"), "/api/v1")
}
