// What can be wrong with an object compared with its schema.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const shapeDiagnostics = {
  'object-not-mapping': {
    severity: 'error',
    message: 'the file holds %s instead of an object',
    help: 'start with apiVersion, kind, metadata and spec',
    cause: 'Each file declares one object.',
    bad: '- name: web',
    good: 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\nspec: {}',
  },
  'api-version-wrong': {
    severity: 'error',
    message: 'apiVersion must be %s, got %s',
    help: 'write apiVersion: gslb/v1',
    cause: 'The version says which fields exist and what they mean.',
    bad: 'apiVersion: v1',
    good: 'apiVersion: gslb/v1',
  },
  'kind-missing': {
    severity: 'error',
    message: 'the file does not say what it declares',
    help: 'add a kind: %s',
    cause: 'Every YAML file under tenants/ and gslb.yaml declares one object.',
    bad: 'apiVersion: gslb/v1\nmetadata: { name: web }',
    good: 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }',
  },
  'kind-unknown': {
    severity: 'error',
    message: 'there is no kind "%s"',
    help: 'the kinds are %s',
    cause: 'A kind that nothing implements would have no effect.',
    bad: 'kind: Pol',
    good: 'kind: Pool',
  },
  'not-available-yet': {
    severity: 'error',
    message: '%s is not available in this version of gslbd',
    help: 'remove it until a version has it: it would have no effect',
    cause:
      'The name is reserved for a later version. It is refused rather than accepted and ignored.',
    bad: 'spec: { domain: www.example.com., algorithm: latency }',
    good: 'spec: { domain: www.example.com., algorithm: round-robin }',
  },
  'field-unknown': {
    severity: 'error',
    message: 'there is no field "%s" here',
    help: 'the fields are %s',
    cause: 'A misspelt field would silently take its default.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, prot: 443 }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'field-missing': {
    severity: 'error',
    message: 'the field "%s" is missing',
    help: '%s',
    cause: 'The field has no default.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10 }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'field-type': {
    severity: 'error',
    message: '%s must be %s, got %s',
    help:
      'numbers and true or false are written without quotes, text that looks like one ' +
      'with quotes',
    cause: 'Values are not converted: "443" and 443 are different things.',
    bad: 'port: "443"',
    good: 'port: 443',
  },
  'field-shape': {
    severity: 'error',
    message: '%s must be %s, got %s',
    help:
      'a mapping is lines of "key: value", indented below the field; a list is lines that start ' +
      'with "- "; a single value stands behind the colon',
    cause: 'A dash too many, or one that is missing, makes another structure of the same words.',
    bad: 'spec:\n  - members: []',
    good: 'spec:\n  members: []',
  },
  'field-range': {
    severity: 'error',
    message: '%s must be %s, got %s',
    help: 'write a number in the range',
    cause: 'The number is outside what a node can hold or what makes sense.',
    bad: 'port: 70000',
    good: 'port: 443',
  },
  'field-length': {
    severity: 'error',
    message: '%s must have %s, it has %s',
    help: 'see docs/reference/configuration.md for the limits',
    cause: 'Texts and lists are limited, so that no object grows without bound.',
    bad: 'metadata: { name: "" }',
    good: 'metadata: { name: web }',
  },
  'field-value': {
    severity: 'error',
    message: '%s cannot be %s',
    help: 'the values are %s',
    cause: 'The field takes one of a fixed list of values.',
    bad: 'algorithm: round-robbin',
    good: 'algorithm: round-robin',
  },
  'field-format': {
    severity: 'error',
    message: '%s is not written as it must be: %s',
    help: '%s',
    cause: 'The text has characters or a form that the field cannot have.',
    bad: 'metadata: { name: web, uid: 42 }',
    good: 'metadata: { name: web, uid: 01976c1e-7e5c-7000-8000-000000000001 }',
  },
} as const satisfies Record<string, DiagnosticSpec>
