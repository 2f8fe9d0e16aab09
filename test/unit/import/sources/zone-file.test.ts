// A zone file that does not say which zone it is, and one where that is not the fault.
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

async function refused(name: string, zone: string): Promise<string> {
  const directory = tempDir('import')
  const file = join(directory, name)
  writeFileSync(file, zone)
  const { exit, err } = await runCli('import', 'zone', file, '-o', join(directory, 'config'))
  expect(exit).toBe(Exit.ErrorsFound)
  return err.replaceAll(file, basename(file))
}

const wanted = 'the file does not say which zone it is: give its name with --origin'

test.each([
  ['db.2.0.192.in-addr.arpa', ', such as --origin 2.0.192.in-addr.arpa'],
  ['example.com.zone.signed', ', such as --origin example.com'],
  ['db.192.0.2', ''],
  ['zone', ''],
])('the example for a file %s may be right: "%s"', async (name, example) => {
  const said = await refused(name, '@ 60 SOA a b 1 2 3 4 5\n1 60 PTR a.example.\n')
  expect(said).toContain(`${name}:1:1: ${wanted}${example}\n`)
})

const head = '$ORIGIN example.com.\n$TTL 300\n@ SOA ns1 hostmaster 7 4 3 2 1\n'
const label = 'a'.repeat(60)
test.each<[what: string, zone: string, faults: readonly string[]]>([
  [
    'another fault is said, too',
    '$TTL 60\n@ SOA a b 1 2 3 4 5\nwww A 192.0.2.1\nx. A 192.0.2.256',
    [`zone:1:1: ${wanted}`, 'zone:4:6: expected an IPv4 address (192.0.2.1)'],
  ],
  [
    'an origin that cannot be read',
    '$ORIGIN a..example.\n@ 60 SOA a b 1 2 3 4 5',
    ['zone:1:11: expected an origin: a label before this dot'],
  ],
  [
    'the word origin in a record',
    `${head}$GENERATE 1-1 origin$ A 192.0.2.300`,
    ['zone:4:15: expected an IPv4 address (192.0.2.1), in "origin1 A 192.0.2.300"'],
  ],
  [
    'a name that is too long with its origin',
    `${head}${label}.${label}.${label}.${label} A 192.0.2.1`,
    ['zone:4:1: expected an owner: a name of at most 255 octets, its origin included'],
  ],
])('%s', async (_what, zone, faults) => {
  const said = await refused('zone', zone)
  expect(said.split('\n').filter((line) => line.startsWith('zone:'))).toEqual(faults)
})
