// The papers of a release: what it is made of (CycloneDX), how it was made (in-toto), checksums.
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

/** What npm calls a package that only the developers of a package need. */
const development = 'cdx:npm:package:development'

/**
 * The bill of what is carried: packages that the product needs, and those that only the build
 * needs, but whose code is in the result, such as the ones of the dashboard.
 *
 * @param bom of npm, of everything that is installed
 * @param notice which names what is carried
 * @param node version of the Node that is carried, which is no package of the project
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
  // npm calls the product as the folder is called; its reference has the name of the package.
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

/** In the result nothing is for developers. */
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

/** As `sha256sum --check` reads them. */
export const sumsText = (sums: readonly Sum[]): string =>
  sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')

export interface Making {
  /** Such as https://github.com/gslbd/gslbd. */
  readonly project: string
  readonly version: string
  readonly commit: string
  readonly lockSha256: string
  /** Versions of the programs that make the files. */
  readonly programs: Readonly<Record<string, string>>
  readonly startedOn: string
  readonly finishedOn: string
}

/** An in-toto statement with the provenance of SLSA 1. */
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
