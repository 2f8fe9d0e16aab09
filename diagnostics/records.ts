// Diagnostics of static records: names, types, values, and what may stand beside what.
import type { DiagnosticSpec } from './diagnostic-spec.ts'
import { ownLookup } from './hostnames.ts'

export const recordDiagnostics = {
  'record-name-invalid': {
    severity: 'error',
    message: '"%s" is no name for records: expected %s',
    help: 'write a name relative to the zone such as www, @ for the zone, or a whole name',
    cause: 'Names are written as in zone files (RFC 1035 section 5.1).',
    bad: 'records: [{ name: www..eu, type: A, values: [192.0.2.10] }]',
    good: 'records: [{ name: www.eu, type: A, values: [192.0.2.10] }]',
  },
  'record-name-doubled': {
    severity: 'warning',
    message: 'the name without a final dot means %s',
    help: 'write %s, or the part before the zone alone',
    cause: 'A name without a final dot is relative to the zone, which is added to it.',
    bad: 'zone: example.com.\nrecords: [{ name: www.example.com, type: A, values: [192.0.2.10] }]',
    good: 'zone: example.com.\nrecords: [{ name: www, type: A, values: [192.0.2.10] }]',
  },
  'record-outside-zone': {
    severity: 'error',
    message: '%s is not in the zone %s',
    help: 'write the record in a file of its own zone, or the name without a final dot',
    cause: 'One file has records of one zone.',
    bad: 'zone: example.com.\nrecords: [{ name: www.example.net., type: A, values: [192.0.2.10] }]',
    good: 'zone: example.net.\nrecords: [{ name: www, type: A, values: [192.0.2.10] }]',
  },
  'record-type-unknown': {
    severity: 'error',
    message: 'there is no type of records "%s" that a zone could hold',
    help: 'write a type such as A, AAAA, CNAME, MX, TXT or SRV, or TYPE and its number',
    cause: 'Types without a name here are written as TYPE65280 (RFC 3597 section 5).',
    bad: 'records: [{ name: www, type: CNMAE, values: [www.example.net.] }]',
    good: 'records: [{ name: www, type: CNAME, values: [www.example.net.] }]',
  },
  'record-type-alias': {
    severity: 'error',
    message: 'there are no %s records; a name that has the addresses of another one is an ALIAS',
    help: 'write `type: ALIAS` with the value %s; below the zone itself a CNAME will do, too',
    cause: 'ANAME is no type of DNS, and what other servers call so is an ALIAS here.',
    bad: 'records: [{ name: "@", type: ANAME, values: [www.example.net.] }]',
    good: 'records: [{ name: "@", type: ALIAS, values: [www.example.net.] }]',
  },
  'record-value-invalid': {
    severity: 'error',
    message: 'wrong %s value, at its column %s: expected %s',
    help: 'write it as in a zone file, such as %s',
    cause: 'A value that cannot be read cannot be served.',
    bad: 'records: [{ name: "@", type: MX, values: [mail.example.com.] }]',
    good: 'records: [{ name: "@", type: MX, values: [10 mail.example.com.] }]',
  },
  'record-value-duplicate': {
    severity: 'error',
    message: 'the value %s is there twice',
    help: 'remove one of the two',
    cause: 'A record set holds each record once (RFC 2181 section 5).',
    bad: 'records: [{ name: www, type: A, values: [192.0.2.10, 192.0.2.10] }]',
    good: 'records: [{ name: www, type: A, values: [192.0.2.10, 192.0.2.11] }]',
  },
  'record-text-unquoted': {
    severity: 'error',
    message: 'without quotes of its own the text falls into %s strings',
    help: 'write %s, or each string in quotes of its own',
    cause:
      'Blanks end a string of a zone file, and readers join strings without one: "v=spf1 -all" ' +
      'would arrive as "v=spf1-all". The quotes of YAML are not part of the value.',
    bad: 'records: [{ name: "@", type: TXT, values: ["v=spf1 -all"] }]',
    good: 'records: [{ name: "@", type: TXT, values: [\'"v=spf1 -all"\'] }]',
  },
  'rrset-too-large': {
    severity: 'error',
    message: 'the %s records of %s take %s octets, the limit is %s',
    help: 'remove some of them, or spread them over several names',
    cause: 'All records of one name and type are answered in one message (RFC 1035 section 4.2).',
    bad: '# a TXT record of 65 000 octets',
    good: 'records: [{ name: "@", type: TXT, values: [\'"some text"\'] }]',
  },
  'record-too-many': {
    severity: 'error',
    message: 'there are %s %s, the limit is %s',
    help: 'remove some of them, or spread them over several names',
    cause: 'An answer has room for so many, and resolvers ask a few of them.',
    bad: '# 33 NS records of one name',
    good: 'records: [{ name: eu, type: NS, values: [ns1.example.net., ns2.example.net.] }]',
  },
  'rrset-duplicate': {
    severity: 'error',
    message: '%s has %s records already',
    help: 'write all values in one entry, with one TTL',
    cause:
      'A name and type has one record set with one TTL (RFC 2181 section 5.2), over all files ' +
      'and tenants.',
    bad:
      'records:\n  - { name: www, type: A, values: [192.0.2.10] }\n' +
      '  - { name: www, type: A, values: [192.0.2.11] }',
    good: 'records:\n  - { name: www, type: A, values: [192.0.2.10, 192.0.2.11] }',
  },
  'record-of-settings': {
    severity: 'error',
    message: 'the %s records of the zone %s come from gslb.yaml',
    help: 'remove them here, and write them as spec.zones[].%s in gslb.yaml',
    cause:
      'The server writes the SOA with its serial, and the NS records of each of its zones with ' +
      'their addresses, also where a zone encloses another one.',
    bad: 'records: [{ name: "@", type: NS, values: [ns1.example.net.] }]',
    good:
      '# gslb.yaml\nzones:\n  - name: example.com.\n' +
      '    nameservers: [{ name: ns1.example.net. }]',
  },
  'record-of-signer': {
    severity: 'error',
    message: '%s records are made when a zone is signed',
    help: 'remove them: the zone that is imported need not be signed',
    cause: 'They cover what a zone holds at one moment, and would be wrong after a change.',
    bad: '# an RRSIG, NSEC or DNSKEY record of a zone that was signed elsewhere',
    good: 'records: [{ name: www, type: A, values: [192.0.2.10] }]',
  },
  'cname-at-apex': {
    severity: 'error',
    message: 'the zone %s itself cannot be an alias (CNAME)',
    help: 'write A and AAAA records, or a service whose domain is the zone',
    cause: 'An alias stands alone, and the zone has SOA and NS records (RFC 1912 section 2.4).',
    bad: 'zone: example.com.\nrecords: [{ name: "@", type: CNAME, values: [www.example.net.] }]',
    good: 'zone: example.com.\nrecords: [{ name: "@", type: A, values: [192.0.2.10] }]',
  },
  'record-beside-cname': {
    severity: 'error',
    message: '%s is an alias (CNAME), so that it cannot have %s records',
    messageOfOther: '%s has %s records, so that it cannot be an alias (CNAME)',
    help: 'remove the alias, or move these records to the name that it leads to',
    cause: 'An alias stands alone at its name (RFC 1034 section 3.6.2).',
    bad:
      'records:\n  - { name: www, type: CNAME, values: [web.example.net.] }\n' +
      '  - { name: www, type: TXT, values: [\'"some text"\'] }',
    good: 'records:\n  - { name: www, type: CNAME, values: [web.example.net.] }',
  },
  'record-beside-alias': {
    severity: 'error',
    message: '%s has the addresses of another name (ALIAS), so that it cannot have %s records',
    messageOfOther: '%s has %s records, so that it cannot be an ALIAS',
    help: 'keep one of the two; MX, TXT and other types may stand beside an ALIAS',
    cause: 'The addresses of a name come from one place.',
    bad:
      'records:\n  - { name: "@", type: ALIAS, values: [web.example.net.] }\n' +
      '  - { name: "@", type: A, values: [192.0.2.10] }',
    good:
      'records:\n  - { name: "@", type: ALIAS, values: [web.example.net.] }\n' +
      '  - { name: "@", type: TXT, values: [\'"some text"\'] }',
  },
  'record-alias-several': {
    severity: 'error',
    message: '%s has one %s record at most, not %s',
    help: 'keep one of them; a service chooses among several targets',
    cause: 'A name leads to one other name (RFC 2181 section 10.1, RFC 6672 section 2.4).',
    bad: 'records: [{ name: www, type: CNAME, values: [a.example.net., b.example.net.] }]',
    good: 'records: [{ name: www, type: CNAME, values: [a.example.net.] }]',
  },
  'record-wildcard-type': {
    severity: 'error',
    message: 'the wildcard %s cannot have %s records',
    help: 'write them at a name without *',
    cause: 'What they would mean at a wildcard is not defined (RFC 4592 section 4).',
    bad: 'records: [{ name: "*", type: NS, values: [ns1.example.net.] }]',
    good: 'records: [{ name: eu, type: NS, values: [ns1.example.net.] }]',
  },
  'record-beside-service': {
    severity: 'error',
    message: 'a service answers for %s, so that it cannot have %s records',
    messageOfOther: '%s has %s records, so that no service can answer for it',
    help: 'remove these records, or the service; MX, TXT and other types may stand beside it',
    cause: 'The addresses of a name come from one place, and an alias stands alone.',
    bad:
      '# a service has the domain www.example.com.\n' +
      'records: [{ name: www, type: A, values: [192.0.2.10] }]',
    good:
      '# a service has the domain www.example.com.\n' +
      'records: [{ name: www, type: TXT, values: [\'"some text"\'] }]',
  },
  'record-is-nameserver': {
    severity: 'error',
    message: 'gslb.yaml has the addresses of the name server %s, so that it cannot have %s records',
    help: 'remove these records, or the addresses of the name server in gslb.yaml',
    cause: 'The name would have two sets of addresses.',
    bad:
      '# gslb.yaml lists ns1.example.com. with addresses\n' +
      'records: [{ name: ns1, type: A, values: [192.0.2.1] }]',
    good: '# gslb.yaml\nnameservers: [{ name: ns1.example.com., addresses: ["192.0.2.1"] }]',
  },
  'record-zone-unknown': {
    severity: 'error',
    message: 'gslb.yaml declares no zone %s',
    help: 'add it to spec.zones of gslb.yaml',
    cause: 'Records belong to a zone with name servers and an SOA record.',
    bad: 'kind: Records\nspec: { zone: example.org., records: [] }',
    good: '# gslb.yaml\nzones: [{ name: example.org., nameservers: [{ name: ns1.example.net. }] }]',
  },
  'record-zone-not-given': {
    severity: 'error',
    message: 'the zone %s is not given to tenant "%s" for records',
    help: 'add "%s" to tenants of the zone in gslb.yaml',
    cause:
      'A tenant writes records in the zones that the settings give it; a zone without tenants ' +
      'belongs to the tenant "default". Delegated domains count where it has delegated: true.',
    bad:
      '# tenants/acme/records/mail.yaml\nkind: Records\n' +
      'spec: { zone: example.com., records: [] }',
    good: '# gslb.yaml\nzones: [{ name: example.com., tenants: [default, acme] }]',
  },
  'record-domain-not-own': {
    severity: 'error',
    message: '%s is in no delegated domain of tenant "%s"',
    help: 'register the domain (kind: DelegatedDomain) for "%s", or write the records elsewhere',
    cause:
      'In a zone with delegated: true, a tenant writes records at and below its delegated ' +
      'domains; of nested ones the closest to a name decides, whoever has it. ' +
      'Tenants that the zone lists write everywhere.',
    bad:
      '# gslb.yaml: zones: [{ name: customers.example., tenants: [default], delegated: true }]\n' +
      '# tenants/acme/records/www.yaml, and acme has no domain\nspec:\n' +
      '  zone: customers.example.\n' +
      '  records: [{ name: www.acme, type: A, values: [192.0.2.10] }]',
    good:
      '# tenants/acme/domains/acme.yaml\nkind: DelegatedDomain\n' +
      'spec: { domain: acme.customers.example }',
  },
  'name-of-other': {
    severity: 'error',
    message: '%s belongs to another tenant, by %s',
    help:
      'take another name, or give it to the tenant: by a delegated domain (kind: ' +
      'DelegatedDomain) or by tenants of a zone in gslb.yaml',
    cause:
      'A name belongs to the tenant of the nearest delegated domain, service, redirect, record ' +
      'or zone with tenants at it or above it. Names with an underscore and wildcards speak for ' +
      'the name behind: _acme-challenge.www.example.com. gets certificates of www.example.com.',
    bad:
      '# tenants/acme/services/www.yaml: domain: www.example.com.\n' +
      '# tenants/globex/services/a.yaml: domain: _acme-challenge.www.example.com.',
    good: '# gslb.yaml\nzones: [{ name: example.com., tenants: [acme] }]',
  },
  'name-of-transfer': {
    severity: 'warning',
    message: '%s is at or below %s, which came by zone transfer for another tenant',
    help:
      'nothing, if both are meant: each is answered. Else take another name, or list the tenant ' +
      'of this object first in tenants of the zone',
    cause:
      'Names of a zone from elsewhere belong to the first tenant of the zone. What was declared ' +
      'before the primary server had the name stays, as a transfer is not to be refused for it; ' +
      'over the API, no other tenant may declare it now.',
    bad:
      '# tenants/default/records/transferred.yaml, with transfer, has www.example.com. A\n' +
      '# tenants/acme/services/a.yaml: domain: a.www.example.com.',
    good: '# gslb.yaml\nzones: [{ name: example.com., tenants: [acme], from: … }]',
  },
  'name-not-owned': {
    severity: 'error',
    message: '%s is in no delegated domain and no zone of tenant "%s"',
    help: 'register the domain (kind: DelegatedDomain), or name the tenant in tenants of the zone',
    cause: 'gslb.yaml has names: owned, so that nobody takes a name that was not given to them.',
    bad: '# gslb.yaml: names: owned\n# tenants/acme/services/www.yaml: domain: www.acme.example.',
    good: '# tenants/acme/domains/acme.yaml\nspec: { domain: acme.example }',
  },
  'zone-tenant-unknown': {
    severity: 'warning',
    message: 'the zone %s is given to tenant "%s", which does not exist',
    help: 'correct the id, or make tenants/%s/tenant.yaml',
    cause: 'A tenant is known by the name of its folder.',
    bad: 'zones: [{ name: example.com., tenants: [amce] }]   # and the folder is tenants/acme',
    good: 'zones: [{ name: example.com., tenants: [acme] }]',
  },
  'record-in-inner-zone': {
    severity: 'error',
    message: '%s is in the zone %s',
    help: 'write it in a file of the zone %s',
    cause: 'The closest enclosing zone answers for a name.',
    bad:
      '# gslb.yaml declares example.com. and eu.example.com.\nspec:\n  zone: example.com.\n' +
      '  records: [{ name: www.eu, type: A, values: [192.0.2.10] }]',
    good:
      'spec:\n  zone: eu.example.com.\n' +
      '  records: [{ name: www, type: A, values: [192.0.2.10] }]',
  },
  'record-at-cut': {
    severity: 'error',
    message: '%s is delegated to other servers, so that it cannot have %s records here',
    help: 'remove them, or the NS records; those servers answer for the name',
    cause: 'At a delegation there are NS and DS records alone (RFC 2181 section 6).',
    bad:
      'records:\n  - { name: eu, type: NS, values: [ns1.example.net.] }\n' +
      '  - { name: eu, type: MX, values: [10 mail.example.net.] }',
    good: 'records:\n  - { name: eu, type: NS, values: [ns1.example.net.] }',
  },
  'service-at-cut': {
    severity: 'error',
    message: '%s is delegated to other servers, so that no service can answer for it here',
    messageOfOther: 'a service answers for %s, so that it cannot be delegated to other servers',
    help:
      'remove the service, or the NS records, at the primary server where they came by zone ' +
      'transfer; or declare an inner zone of that name in gslb.yaml',
    cause: 'Resolvers ask the other servers, and never see it (RFC 1034 section 4.2.1).',
    bad:
      '# a service has the domain eu.example.com.\n' +
      'records: [{ name: eu, type: NS, values: [ns1.example.net.] }]',
    good: 'records: [{ name: eu, type: NS, values: [ns1.example.net.] }]   # and no service',
  },
  'record-below-cut': {
    severity: 'error',
    message: '%s is below %s, which is delegated to other servers',
    help: 'remove it, or the NS records there; only addresses of those servers may stand below',
    cause: 'Resolvers ask the other servers, and never see it (RFC 1034 section 4.2.1).',
    bad:
      'records:\n  - { name: eu, type: NS, values: [ns1.example.net.] }\n' +
      '  - { name: www.eu, type: A, values: [192.0.2.10] }',
    good:
      'records:\n  - { name: eu, type: NS, values: [ns1.eu] }\n' +
      '  - { name: ns1.eu, type: A, values: [192.0.2.10] }',
  },
  'record-below-dname': {
    severity: 'error',
    message: '%s is below %s, which leads all names below it elsewhere (DNAME)',
    help: 'remove it, or the DNAME record',
    cause: 'Below a DNAME record stands nothing (RFC 6672 section 2.4).',
    bad:
      'records:\n  - { name: old, type: DNAME, values: [new.example.net.] }\n' +
      '  - { name: www.old, type: A, values: [192.0.2.10] }',
    good: 'records:\n  - { name: old, type: DNAME, values: [new.example.net.] }',
  },
  'ds-without-cut': {
    severity: 'error',
    message: '%s has DS records and is not delegated here',
    help: 'add the NS records, or write the DS records in the zone above',
    cause: 'DS records stand on the upper side of a delegation (RFC 4034 section 5).',
    bad: 'records: [{ name: eu, type: DS, values: [60485 13 2 1A2B…] }]',
    good:
      'records:\n  - { name: eu, type: NS, values: [ns1.example.net.] }\n' +
      '  - { name: eu, type: DS, values: [60485 13 2 1A2B…] }',
  },
  'cut-glue-missing': {
    severity: 'error',
    message: 'the name server %s is below the delegated name %s and has no addresses',
    help: 'add A or AAAA records for it here',
    cause: 'Nobody finds a server whose address only the server itself knows.',
    bad: 'records: [{ name: eu, type: NS, values: [ns1.eu] }]',
    good:
      'records:\n  - { name: eu, type: NS, values: [ns1.eu] }\n' +
      '  - { name: ns1.eu, type: A, values: [192.0.2.10] }',
  },
  'record-target-alias': {
    severity: 'error',
    message: '%s is an alias, and %s records must name a host with addresses',
    help: 'write the name that the alias leads to',
    cause: 'Many servers do not follow an alias there (RFC 2181 section 10.3, RFC 2782).',
    bad:
      'records:\n  - { name: "@", type: MX, values: [10 mail] }\n' +
      '  - { name: mail, type: CNAME, values: [mx.example.net.] }',
    good: 'records:\n  - { name: "@", type: MX, values: [10 mx.example.net.] }',
  },
  'record-target-missing': {
    severity: 'error',
    message: '%s has no addresses, and %s records must name a host that has some',
    help:
      'add A or AAAA records or a service for it; a name elsewhere needs its final dot; where ' +
      'UPDATE writes its address, give the zone `updates: true` in gslb.yaml',
    cause: 'The name is in a zone of ours, so that nobody else can know its address.',
    bad: 'zone: example.com.\nrecords: [{ name: "@", type: MX, values: [10 mail.example.net] }]',
    good: 'zone: example.com.\nrecords: [{ name: "@", type: MX, values: [10 mail.example.net.] }]',
  },
  'record-target-address': {
    severity: 'error',
    message: '%s is an address, and %s records name a host',
    help: 'write the name of a host, and its address as A or AAAA records of that name',
    cause: 'Resolvers would look for a host of that name, digits and all (RFC 1035 section 3.3).',
    bad: 'records: [{ name: "@", type: MX, values: [10 192.0.2.25] }]',
    good:
      'records:\n  - { name: "@", type: MX, values: [10 mail] }\n' +
      '  - { name: mail, type: A, values: [192.0.2.25] }',
  },
  'alias-target-missing': {
    severity: 'warning',
    message: '%s is an alias of %s, which does not exist',
    help: 'correct it, or add records or a service there; a name elsewhere needs its final dot',
    cause: 'The name is in a zone of ours, so that whoever follows the alias gets NXDOMAIN.',
    bad: 'zone: example.com.\nrecords: [{ name: docs, type: CNAME, values: [pages.example.net] }]',
    good:
      'zone: example.com.\n' +
      'records: [{ name: docs, type: CNAME, values: [pages.example.net.] }]',
  },
  'alias-target-own': {
    severity: 'warning',
    message: '%s is an ALIAS of %s, which nodes ask a resolver for, though they answer for it',
    help: 'write a service for %s with the same pool, or A and AAAA records',
    cause: ownLookup,
    bad: 'zone: example.com.\nrecords: [{ name: "@", type: ALIAS, values: [www] }]',
    good: 'kind: Service\nspec: { domain: example.com., pool: web } # the pool of www.example.com.',
  },
  'binding-target-missing': {
    severity: 'warning',
    message: 'the %s records of %s lead to %s, which %s',
    help: 'correct it, or add addresses or a service there; a name elsewhere needs its final dot',
    cause: 'The name is in a zone of ours, so that clients find nobody to connect to there.',
    bad: 'zone: example.com.\nrecords: [{ name: www, type: HTTPS, values: [1 cdn.example.net] }]',
    good: 'zone: example.com.\nrecords: [{ name: www, type: HTTPS, values: [1 cdn.example.net.] }]',
  },
  'binding-hint-service': {
    severity: 'warning',
    message: 'the %s records of %s have address hints, and a service answers for %s',
    help: 'remove ipv4hint and ipv6hint: clients ask for the addresses, too',
    cause:
      'Clients may connect to the hints at once (RFC 9460 section 7.3), past health, places and ' +
      'weights of the service.',
    bad: 'records: [{ name: www, type: HTTPS, values: ["1 . alpn=h2 ipv4hint=192.0.2.1"] }]',
    good: 'records: [{ name: www, type: HTTPS, values: ["1 . alpn=h2"] }]',
  },
  'inbound-need-missing': {
    severity: 'warning',
    message: 'the %s records of %s need %s, which %s',
    help: 'correct it, unless the primary server of the zone brings what is missing',
    cause: 'The zone comes by zone transfer: what a record needs may come later, go, or expire.',
    bad:
      '# its zone has `from`, and the primary server has no mail.example.com.\n' +
      'records: [{ name: "@", type: MX, values: [10 mail] }]',
    good: '# the same, once the primary server has addresses of mail.example.com.',
  },
  'written-need-missing': {
    severity: 'warning',
    message: 'the %s records of %s need %s, which has no addresses unless they are written',
    help: 'correct it, unless UPDATE writes addresses of that name at run time',
    cause: 'The zone has `updates: true`: what is written at run time is not in the repository.',
    bad:
      '# gslb.yaml: zones: [{ name: example.com., updates: true }]\n' +
      'records: [{ name: _ldap._tcp, type: SRV, values: [0 100 389 dc1] }]',
    good: '# the same: a check does not know what is written',
  },
  'alias-loop': {
    severity: 'error',
    message: 'aliases lead in a circle: %s',
    help: 'let one of them lead to a name with addresses',
    cause: 'Nobody who follows them gets an address.',
    bad:
      'records:\n  - { name: a, type: CNAME, values: [b] }\n' +
      '  - { name: b, type: CNAME, values: [a] }',
    good:
      'records:\n  - { name: a, type: CNAME, values: [b] }\n' +
      '  - { name: b, type: A, values: [192.0.2.10] }',
  },
  'alias-chain-long': {
    severity: 'error',
    message: 'from %s on, more than %s aliases follow each other: %s',
    help: 'let it lead to the last name of them',
    cause: 'Answers follow no more, and resolvers give up.',
    bad: '# a CNAME to a CNAME to a CNAME …, nine of them',
    good: 'records: [{ name: www, type: CNAME, values: [web] }]',
  },
  'caa-value-invalid': {
    severity: 'error',
    message: 'the value of the CAA tag %s is wrong: expected %s',
    help: 'correct it; an authority that cannot read it must not issue a certificate',
    cause: 'Certificate authorities read it before they issue one (RFC 8659 section 4).',
    bad: 'records: [{ name: "@", type: CAA, values: [\'0 issue "https://ca.example.net"\'] }]',
    good: 'records: [{ name: "@", type: CAA, values: [\'0 issue "ca.example.net"\'] }]',
  },
  'caa-tag-unknown': {
    severity: 'note',
    message: 'the CAA tag %s is not known',
    help: 'write issue, issuewild, issuemail or iodef if one of them was meant',
    cause: 'Authorities pass over it or, where the flags are 128, issue nothing.',
    bad: 'records: [{ name: "@", type: CAA, values: [\'0 isue "ca.example.net"\'] }]',
    good: 'records: [{ name: "@", type: CAA, values: [\'0 issue "ca.example.net"\'] }]',
  },
  'record-gives-way': {
    severity: 'note',
    message: '%s has %s records by zone transfer, which are not answered',
    messageOfOther: '%s is answered by this, and not by the %s records that came by zone transfer',
    help: 'nothing, if that is meant',
    cause: 'What is declared here goes before what comes from a primary server.',
    bad: '# a service for www.example.com., and the primary server has A records of that name',
    good: '# the same, once the primary server has none',
  },
  'spf-doubtful': {
    severity: 'note',
    message: 'the SPF record of %s: %s',
    help: 'see RFC 7208',
    cause: 'Receivers of mail would not do what was probably meant.',
    bad: 'records: [{ name: "@", type: TXT, values: [\'"v=spf1 mx +all"\'] }]',
    good: 'records: [{ name: "@", type: TXT, values: [\'"v=spf1 mx -all"\'] }]',
  },
  'dmarc-doubtful': {
    severity: 'note',
    message: 'the DMARC record of %s: %s',
    help: 'see RFC 7489 section 6.3',
    cause: 'Receivers of mail would not do what was probably meant.',
    bad: 'records: [{ name: _dmarc, type: TXT, values: [\'"v=DMARC1; policy=reject"\'] }]',
    good: 'records: [{ name: _dmarc, type: TXT, values: [\'"v=DMARC1; p=reject"\'] }]',
  },
} as const satisfies Record<string, DiagnosticSpec>
