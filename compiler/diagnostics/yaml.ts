// What can be wrong with a file as YAML.
import type { DiagnosticSpec } from '../diagnostic-spec.ts'

export const yamlDiagnostics = {
  'yaml-syntax': {
    severity: 'error',
    message: '%s',
    help: 'correct the YAML; the rest of this file is checked after that',
    cause: 'The text is not YAML 1.2.',
    bad: 'metadata: { name: web',
    good: 'metadata: { name: web }',
  },
  'yaml-several-documents': {
    severity: 'error',
    message: 'a second document starts here',
    help: 'move it to a file of its own: one object per file',
    cause: 'With one object per file, a change to one object touches one file.',
    bad: 'kind: Pool\n---\nkind: Service',
    good: '# pools/web.yaml\nkind: Pool\n# services/www.yaml\nkind: Service',
  },
  'yaml-duplicate-key': {
    severity: 'error',
    message: 'the key "%s" is written twice',
    help: 'remove one of the two',
    cause: 'One of the two values would silently win.',
    bad: 'spec:\n  ttl: 60\n  ttl: 30',
    good: 'spec:\n  ttl: 30',
  },
  'yaml-anchor': {
    severity: 'error',
    message: 'anchors and aliases (& and *) are not accepted',
    help: 'write the value out; text that starts with * or & needs quotes',
    cause:
      'An edit at the anchor would change other places, and nested aliases grow without bound.',
    bad: 'spec:\n  domain: *.example.com.',
    good: 'spec:\n  domain: "*.example.com."',
  },
  'yaml-tag': {
    severity: 'error',
    message: 'the tag %s is not accepted',
    help: 'remove the tag; use quotes where text is meant',
    cause: 'The schema says which type each field has.',
    bad: 'port: !!str 443',
    good: 'port: 443',
  },
  'yaml-merge-key': {
    severity: 'error',
    message: 'merge keys (<<) are not accepted',
    help: 'write the fields out',
    cause: 'Merge keys are no part of YAML 1.2, and programs disagree about them.',
    bad: 'healthCheck:\n  <<: { type: http }\n  port: 80',
    good: 'healthCheck:\n  type: http\n  port: 80',
  },
  'yaml-key-not-text': {
    severity: 'error',
    message: 'a key must be text',
    help: 'write the name of a field',
    cause: 'All fields have names; a number, a list or nothing is none.',
    bad: 'spec:\n  1: 60',
    good: 'spec:\n  ttl: 60',
  },
  'yaml-too-deep': {
    severity: 'error',
    message: 'the value is nested deeper than %s levels',
    help: 'remove the extra levels',
    cause: 'No field is nested that deep, and depth costs stack.',
    bad: 'spec: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]',
    good: 'spec: {}',
  },
  'yaml-version': {
    severity: 'error',
    message: 'the file asks for YAML %s',
    help: 'remove the line with YAML 1.1 at the top: files are YAML 1.2',
    cause: 'Under YAML 1.1 words such as NO and on are booleans.',
    bad: '%YAML 1.1\n---\nkind: Pool',
    good: 'kind: Pool',
  },
} as const satisfies Record<string, DiagnosticSpec>
