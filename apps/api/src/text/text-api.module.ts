import { AccessModule, TextModule, type TextUpstream } from '#features';
import { type DynamicModule, Module } from '@nestjs/common';
import { GeminiController } from './gemini.controller.js';
import { MessagesController } from './messages.controller.js';
import { ResponsesController } from './responses.controller.js';
import { TextAnswers } from './text-answers.js';

/** The three text endpoints. */
@Module({})
export class TextApiModule {
  static over(upstreams: readonly TextUpstream[]): DynamicModule {
    return {
      module: TextApiModule,
      imports: [AccessModule, TextModule.over(upstreams)],
      controllers: [ResponsesController, MessagesController, GeminiController],
      providers: [TextAnswers],
    };
  }
}
