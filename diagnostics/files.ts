// Diagnostics of files that cannot be read, or that lie in the wrong place.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const fileDiagnostics = {
  'configuration-missing': {
    severity: 'error',
    message: 'there is no configuration: neither gslb.yaml nor a YAML file in tenants/<tenant>/',
    help: 'both are looked for at the top of the tree, in lower case; %s',
    cause:
      'Without any object every name would be refused. A commit that removes everything, or a ' +
      'directory that is not the configuration, is a mistake, so the last good one goes on ' +
      'serving.',
    bad: '# a repository with README.md and nothing else',
    good:
      '# gslb.yaml\napiVersion: gslb/v1\nkind: Settings\n' +
      'metadata: { name: settings }\nspec: {}',
  },
  'configuration-too-large': {
    severity: 'error',
    message: 'the configuration has %s bytes, the limit is %s',
    help:
      'remove what is no configuration, or give some zones a repository and nodes of their own; ' +
      'the largest folder, with %s bytes, is %s',
    cause:
      'All files together are limited, so that a mistaken commit costs bounded time and memory. ' +
      'Nothing of it is read; the last good configuration goes on serving.',
    bad: '# tenants/default/services/ with 100,000 files of 64 KiB',
    good: '# three million records, or 200,000 services',
  },
  'file-too-large': {
    severity: 'error',
    message: 'the file has %s bytes, the limit is %s',
    help: 'make several objects of it, each in a file of its own',
    cause: 'Files are limited, so that a mistaken commit costs bounded time and memory.',
    bad: '# tenants/default/pools/all.yaml, 2 MiB',
    good: '# tenants/default/pools/web-eu.yaml\n# tenants/default/pools/web-us.yaml',
  },
  'file-not-utf8': {
    severity: 'error',
    message: 'the file is not UTF-8 text',
    help: 'save it as UTF-8; the first byte that does not fit is at offset %s',
    cause: 'YAML files of a configuration are UTF-8; any other encoding would be guessed.',
    bad: '# a file saved as UTF-16 or Latin-1',
    good: '# the same file saved as UTF-8',
  },
  'file-empty': {
    severity: 'error',
    message: 'the file holds nothing',
    help: 'write an object into it, or remove the file',
    cause: 'An empty file is usually a lost edit, so it is not taken for an intended deletion.',
    bad: '# only a comment',
    good: 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\nspec: {}',
  },
  'file-symlink': {
    severity: 'error',
    message: 'the path is a symbolic link',
    help: 'put the file itself there: links are not followed',
    cause: 'A link may point out of the repository, where no signature covers what is read.',
    bad: 'tenants/default/pools/web.yaml -> /srv/web.yaml',
    good: 'tenants/default/pools/web.yaml   # a regular file',
  },
  'file-submodule': {
    severity: 'error',
    message: 'the path is a Git submodule',
    help: 'put the files themselves there: submodules are not fetched',
    cause: 'The content of a submodule is in another repository, which no signature here covers.',
    bad: 'tenants/acme -> submodule at 1a2b3c4',
    good: 'tenants/acme/services/www.yaml   # a regular file',
  },
  'file-outside': {
    severity: 'warning',
    message: 'the YAML file is in a place that is not read',
    help:
      'settings are in gslb.yaml, policies in rpz/, deliveries in deliveries/, everything else ' +
      'under tenants/<tenant>/',
    cause: 'A file beside the known places has no effect, which is rarely what its author wanted.',
    bad: 'pools/web.yaml',
    good: 'tenants/default/pools/web.yaml',
  },
  'kind-misplaced': {
    severity: 'error',
    message: 'a %s does not belong here',
    help: 'move it to %s',
    cause:
      'Settings, response policies and deliveries hold for everybody and have their places at ' +
      'the top; all else is owned by one tenant.',
    bad: '# gslb.yaml\nkind: Pool',
    good: '# tenants/default/pools/web.yaml\nkind: Pool',
  },
  'tenant-folder-name': {
    severity: 'error',
    message: '"%s" cannot be a tenant',
    help: 'name the folder with 1 to 63 lower-case letters, digits and inner hyphens',
    cause: 'The folder is the id of the tenant, in URLs and on every file system.',
    bad: 'tenants/Acme Corp/services/www.yaml',
    good: 'tenants/acme-corp/services/www.yaml',
  },
  'tenant-reserved': {
    severity: 'error',
    message: 'the tenant id "%s" is reserved',
    help: 'choose another name for the folder',
    cause: 'Logs and roles use the word for something that is no tenant.',
    bad: 'tenants/system/services/www.yaml',
    good: 'tenants/acme/services/www.yaml',
  },
  'tenant-name-mismatch': {
    severity: 'error',
    message: 'the tenant is named "%s" and its folder "%s"',
    help: 'give both the same name; a name for people is spec.displayName',
    cause: 'The folder is the id of the tenant, so the object inside must agree.',
    bad: '# tenants/acme/tenant.yaml\nkind: Tenant\nmetadata: { name: acme-corp }',
    good: '# tenants/acme/tenant.yaml\nkind: Tenant\nmetadata: { name: acme }',
  },
  'tenant-undeclared': {
    severity: 'warning',
    message: 'the folder of tenant "%s" has no Tenant object',
    help: 'add %s with kind: Tenant, or remove the folder',
    cause:
      'What a deleted tenant owned is still served; a new tenant needs its object to be seen ' +
      'by the API.',
    bad: 'tenants/acme/services/www.yaml   # and nothing else',
    good: 'tenants/acme/tenant.yaml\ntenants/acme/services/www.yaml',
  },
  'tenant-duplicate': {
    severity: 'error',
    message: 'tenant "%s" is declared twice',
    help: 'keep one of the two files',
    cause: 'Each tenant folder has one Tenant object.',
    bad: 'tenants/acme/tenant.yaml\ntenants/acme/owner.yaml   # kind: Tenant, too',
    good: 'tenants/acme/tenant.yaml',
  },
  'limit-exceeded': {
    severity: 'error',
    message: 'there are %s %s, the limit is %s',
    help: 'split the configuration over several repositories and nodes',
    cause: 'A node could not load more, so the compiler refuses it before anything is published.',
    bad: '# 4,000,001 services',
    good: '# at most 4,000,000 services',
  },
  'self-test-failed': {
    severity: 'error',
    message: 'the finished bundle does not load: %s',
    help: 'this is a defect of gslbd; nothing was published, please report it with this message',
    cause: 'Every bundle is loaded by the loader of the nodes before it is published.',
    bad: '# no configuration should cause this',
    good: '# the last good bundle goes on serving',
  },
} as const satisfies Record<string, DiagnosticSpec>
