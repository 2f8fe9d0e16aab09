// Writes the papers of a release: its bill of materials (CycloneDX), its provenance (in-toto), its
// checksums.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface Component {
  readonly 'bom-ref': string
  readonly type?: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly scope?: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

export interface Bom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** Property of npm for packages that only developers of a package need. */
const development = 'cdx:npm:package:development'

/**
 * Returns the bill of materials: packages that the product needs, and packages that only the build
 * needs, but whose code is in the result, such as those of the dashboard.
 *
 * @param bom bill by npm of everything that is installed
 * @param notice NOTICE, which names the packages of the result
 * @param node version of the included Node, which is no package of the project
 */
export function billOf(bom: Bom, notice: string, node: string): Bom {
  const named = new Set([...notice.matchAll(/^(\S+): /gm)].map(([, name]) => name))
  const isCarried = ({ name, properties = [] }: Component): boolean =>
    named.has(name) || !properties.some((one) => one.name === development)
  const components = [...bom.components.filter(isCarried), nodeOf(node)].map(asRequired)
  const refs = new Set([bom.metadata.component, ...components].map((one) => one['bom-ref']))
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
  const { component } = bom.metadata
  // npm names the product after its folder; its reference has the name of the package.
  const name = component['bom-ref'].replace(/@[^@]*$/, '')
  const metadata = { ...bom.metadata, component: { ...component, name } }
  return { ...bom, metadata, components, dependencies }
}

function nodeOf(version: string): Component {
  const type = 'application'
  return {
    'bom-ref': `node@${version}`,
    type,
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
  }
}

/** No package of the result is for developers. */
function asRequired(component: Component): Component {
  const properties = (component.properties ?? []).filter(({ name }) => name !== development)
  return { ...component, scope: 'required', properties }
}

export interface Sum {
  readonly name: string
  readonly sha256: string
}

export async function sumOf(file: string): Promise<Sum> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return { name: basename(file), sha256: hash.digest('hex') }
}

/** Formats checksums for `sha256sum --check`. */
export const sumsText = (sums: readonly Sum[]): string =>
  sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')

interface Making {
  /** Address of the project, such as https://github.com/gslbd/gslbd. */
  readonly project: string
  readonly version: string
  readonly commit: string
  readonly lockSha256: string
  /** Versions of the programs that make the files, by name. */
  readonly programs: Readonly<Record<string, string>>
  readonly startedOn: string
  readonly finishedOn: string
}

/** Returns an in-toto statement with the provenance of SLSA 1. */
export function provenanceOf(sums: readonly Sum[], making: Making): object {
  const { project, version, commit, programs, startedOn, finishedOn } = making
  const source = `git+${project}.git@refs/tags/v${version}`
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: sums.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${project}/blob/v${version}/docs/contributing/release.md`,
        externalParameters: { source, version },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: making.lockSha256 } },
        ],
      },
      runDetails: {
        builder: { id: `${project}/blob/v${version}/bin/release.ts`, version: programs },
        metadata: { startedOn, finishedOn },
      },
    },
  }
}
