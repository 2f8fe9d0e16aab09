// Diagnostics of names, ids and references.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const nameDiagnostics = {
  'pool-name-duplicate': {
    severity: 'error',
    message: 'the pool name "%s" is taken',
    help: 'rename one of the two pools, and the services that use it',
    cause: 'Pool names are unique across all tenants.',
    bad: '# tenants/a/pools/web.yaml and tenants/b/pools/web.yaml\nmetadata: { name: web }',
    good: '# tenants/a/pools/web.yaml\nmetadata: { name: a-web }',
  },
  'service-name-duplicate': {
    severity: 'error',
    message: 'the service name "%s" is taken',
    help: 'rename one of the two services',
    cause: 'Service names are unique across all tenants.',
    bad: '# services/www.yaml and services/shop.yaml\nmetadata: { name: www }',
    good: '# services/shop.yaml\nmetadata: { name: shop }',
  },
  'object-name-duplicate': {
    severity: 'error',
    message: 'the name "%s" is taken by another %s of the same owner',
    help: 'rename one of the two',
    cause: 'An object is known by its owner, its kind and its name.',
    bad: '# rpz/a.yaml and rpz/b.yaml\nkind: ResponsePolicy\nmetadata: { name: local }',
    good: '# rpz/b.yaml\nkind: ResponsePolicy\nmetadata: { name: feed }',
  },
  'tenant-name-duplicate': {
    severity: 'error',
    message: 'the display name "%s" is taken',
    help: 'give one of the two tenants another spec.displayName',
    cause: 'Tenant names are unique.',
    bad: '# tenants/a/tenant.yaml and tenants/b/tenant.yaml\nspec: { displayName: Acme }',
    good: '# tenants/b/tenant.yaml\nspec: { displayName: Acme Europe }',
  },
  'uid-duplicate': {
    severity: 'error',
    message: 'the uid %s is used twice',
    help: 'remove the uid of the copy: it gets one of its own',
    cause: 'The uid is the identity of an object; a copied file must not keep it.',
    bad:
      '# web-us.yaml, copied from web-eu.yaml with its uid\nmetadata: { name: web-us, ' +
      'uid: 01976c1e-7e5c-7000-8000-000000000001 }',
    good: 'metadata: { name: web-us }',
  },
  'domain-duplicate': {
    severity: 'error',
    message: 'another service already answers for %s',
    help: 'give one of the two services another domain',
    cause:
      'One name has one service, across all tenants; case and the trailing dot make no difference.',
    bad: '# services/a.yaml: www.example.com.\n# services/b.yaml: WWW.example.com.',
    good: '# services/b.yaml: www2.example.com.',
  },
  'pool-unknown': {
    severity: 'error',
    message: 'there is no pool "%s" in tenant "%s"',
    help: 'write the metadata.name of a pool, or pool: null for a name without records',
    cause: 'A service refers to its pool by name.',
    bad: 'spec: { domain: www.example.com., pool: wbe }',
    good: 'spec: { domain: www.example.com., pool: web }',
  },
  'pool-of-other-tenant': {
    severity: 'error',
    message: 'the pool "%s" belongs to another tenant',
    help: 'make a pool of the same members in tenant "%s"',
    cause: 'A tenant sees and uses its own pools only.',
    bad: '# tenants/b/services/www.yaml\nspec: { domain: www.example.com., pool: a-web }',
    good: '# tenants/b/services/www.yaml\nspec: { domain: www.example.com., pool: b-web }',
  },
  'name-not-absolute': {
    severity: 'error',
    message: '"%s" needs a dot at the end',
    help: 'write %s',
    cause: 'Names are fully qualified; the dot says that nothing is to be added.',
    bad: 'domain: www.example.com',
    good: 'domain: www.example.com.',
  },
  'name-invalid': {
    severity: 'error',
    message: '"%s" is not a domain name: %s',
    help:
      'write labels of letters, digits, hyphens and underscores, with one dot after ' +
      'each; other scripts as xn--',
    cause: 'The name could not be asked for, or would be asked for in another form.',
    bad: 'domain: www..example.com.',
    good: 'domain: www.example.com.',
  },
  'name-label-too-long': {
    severity: 'error',
    message: 'a label has %s characters, the limit is 63',
    help: 'shorten the label "%s"',
    cause: 'A length octet holds at most 63 (RFC 1035 section 2.3.4).',
    bad: 'domain: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.com.',
    good: 'domain: a.example.com.',
  },
  'name-too-long': {
    severity: 'error',
    message: 'the name has %s octets on the wire, the limit is 255',
    help: 'shorten it',
    cause: 'A whole name has at most 255 octets (RFC 1035 section 2.3.4).',
    bad: '# a name of more than 253 characters',
    good: 'domain: www.example.com.',
  },
  'name-wildcard': {
    severity: 'error',
    message: '"%s" has a * where none can be',
    help: 'write * as the whole first label of a name, "*.example.com.", where one may have it',
    cause:
      'Only a whole first label is a wildcard (RFC 4592 section 2.1.1). Services, redirects and ' +
      'records can have one; zones, delegated domains and name servers cannot.',
    bad: 'domain: "www.*.example.com."',
    good: 'domain: "*.example.com."',
  },
} as const satisfies Record<string, DiagnosticSpec>
