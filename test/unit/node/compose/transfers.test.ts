import { expect, test } from 'vitest'
import { notifiedZones, watchCatalog, watchSigned } from '#node/compose/transfers.ts'
import { formatName } from '#dns/name.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { childName, modelWithChild, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const catalog = wireName('catalog.example.')
const others = [wireName('example.com.'), wireName('x.catalog.example.')]

function watching(name: Uint8Array | undefined): {
  readonly lines: string[]
  readonly watch: (zones: readonly Uint8Array[]) => void
} {
  const lines: string[] = []
  const say = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${JSON.stringify(fields)} ${message}`)
  }
  return { lines, watch: watchCatalog(name, { info: say('info'), error: say('error') }) }
}

test('a zone that takes the name of the catalog is an error, told once while it is there', () => {
  const { lines, watch } = watching(catalog)
  watch(others)
  expect(lines).toEqual([])
  watch([...others, catalog])
  watch([catalog])
  expect(lines).toEqual([
    expect.stringMatching(
      /^error .*"catalog\.example\.".* Give dns\.axfr\.catalog a name of its own/,
    ),
  ])
  watch(others)
  watch([catalog])
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^info .* the catalog zone is there again$/),
    lines[0],
  ])
})

test('without a catalog nothing is said', () => {
  const { lines, watch } = watching(undefined)
  watch([catalog])
  expect(lines).toEqual([])
})

test('a zone that begins to be signed is told once, and no more by NOTIFY', () => {
  const whole = modelWithChild(0)
  const plain = bundleOf({
    ...whole,
    zones: whole.zones.map(({ algorithm: _, ...zone }) => zone),
  })
  const [signed, both] = [bundleOf(whole), bundleOf(modelWithChild(13))]
  const lines: unknown[] = []
  const watch = watchSigned({ warn: (fields) => lines.push(fields) })
  for (const bundle of [both, both, plain, signed, signed]) watch(bundle)
  expect(lines).toEqual([{ zones: [full(signedName)], others: 0 }])
  watch(both)
  expect(lines.slice(1)).toEqual([{ zones: [full(childName)], others: 0 }])
  expect(
    [plain, signed, both].map((one) => notifiedZones(one).map((name) => formatName(name))),
  ).toEqual([[full(signedName), full(childName)], [full(childName)], []])
})

const full = (name: string): string => (name.endsWith('.') ? name : `${name}.`)
