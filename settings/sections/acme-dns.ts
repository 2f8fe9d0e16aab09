// The section `acmeDns` of gslbd.yaml: an endpoint as acme-dns has it, below the API.
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { integer, name, networks, section, text } from '#settings/forms/forms.ts'

export const acmeDns = section(
  'An endpoint for ACME clients, as acme-dns has it: `/acme-dns/register` and `/acme-dns/update` ' +
    'of the API. [More](../operations/certificates.md#for-other-acme-clients).',
  {
    domain: name({
      'x-expected': 'the name of a zone, or one below, such as acme.example.com',
      description:
        'Name below which each client gets one of its own, in a zone that is answered here. ' +
        'Empty: the endpoint is off.',
    }),
    registerFrom: networks({
      description: 'Clients that may register. Empty: nobody; who has registered goes on.',
    }),
    tenant: text(63, {
      default: 'default',
      pattern: tenantIdPattern.source,
      'x-expected': 'the name of a tenant, such as certificates',
      description:
        'Tenant of the keys and of the TXT records that they set: they count among what it may ' +
        'have, and its people list and delete them.',
    }),
    maxKeys: integer(1, 10_000, {
      default: 1_000,
      description: 'Keys that there may be. Each sets two records at most.',
    }),
  },
)
