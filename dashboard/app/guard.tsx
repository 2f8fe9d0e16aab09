// Contains the failure of a screen: its error stands in its place, and the others go on.
import { Component } from 'preact'
import type { ComponentChildren } from 'preact'
import { sentence } from '../api/client.ts'
import { Fault, Page } from '../parts/page.tsx'

interface GuardProps {
  /** Another address is another try. */
  readonly address: string
  readonly children: ComponentChildren
}

interface GuardState {
  readonly fault: string
}

export class Guard extends Component<GuardProps, GuardState> {
  override state: GuardState = { fault: '' }

  static override getDerivedStateFromError(error: unknown): GuardState {
    return { fault: sentence(error) }
  }

  override componentDidUpdate({ address }: GuardProps): void {
    if (address !== this.props.address && this.state.fault !== '') this.setState({ fault: '' })
  }

  override render() {
    const { fault } = this.state
    if (fault === '') return this.props.children
    const text = `A fault of the dashboard: ${fault}. Nothing was changed. Other screens go on.`
    return (
      <Page title="This screen has failed">
        <Fault text={text} retry={() => this.setState({ fault: '' })} />
      </Page>
    )
  }
}
