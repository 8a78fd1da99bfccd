import { AccessModule, TextModule } from '#features';
import type { OpenTextProviders } from '#providers';
import { type DynamicModule, Module } from '@nestjs/common';
import { GeminiController } from './gemini.controller.js';
import { MessagesController } from './messages.controller.js';
import { ResponsesController } from './responses.controller.js';
import { TextAnswers } from './text-answers.js';

/** The three text endpoints. */
@Module({})
export class TextApiModule {
  static over(providers: OpenTextProviders): DynamicModule {
    return {
      module: TextApiModule,
      imports: [AccessModule, TextModule.over(providers)],
      controllers: [ResponsesController, MessagesController, GeminiController],
      providers: [TextAnswers],
    };
  }
}
